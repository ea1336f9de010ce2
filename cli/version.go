package cli

import "runtime/debug"

// module is the path of the project's module.
const module = "github.com/seed-d8745b77/rag"

// version is the module version that the command was built from, with the commit where the build knows it. In another
// module's program it is that of the project, and the commit, which is the program's own, is left out.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	if info.Main.Path != module {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version + " " + info.GoVersion
			}
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text + " " + info.GoVersion
}
