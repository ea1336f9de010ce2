package userenv

import "golang.org/x/sys/windows/registry"

func ofUser(name string) (string, bool) {
	key, err := registry.OpenKey(registry.CURRENT_USER, "Environment", registry.QUERY_VALUE)
	if err != nil {
		return "", false
	}
	defer key.Close()
	value, kind, err := key.GetStringValue(name)
	if err == nil && kind == registry.EXPAND_SZ { // it names other variables
		value, err = registry.ExpandString(value)
	}
	return value, err == nil
}
