// Package userenv reads environment variables, also those that a process was started without. An MCP client hands its
// servers a few variables only, without the keys of services that its user has set for all programs.
package userenv

import "os"

// Getenv is Lookup for those who need not know whether a variable is set.
func Getenv(name string) string {
	value, _ := Lookup(name)
	return value
}

// Lookup returns a variable of the process, or else of its user: on Windows one of the account's environment, on macOS one
// that launchctl was told, elsewhere one of the files in environment.d below the user's configuration folder (systemd's
// environment.d). What cannot be read there is not set.
func Lookup(name string) (value string, set bool) {
	if value, set = os.LookupEnv(name); set {
		return value, true
	}
	return ofUser(name)
}
