//go:build unix

package cli

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// nobody is a user without rights, by the number that systems give it.
const nobody = 65534

// restrict takes from the process what a test has it do without: "nobody" its rights, if it has those of root, for whom no
// folder is read-only; "files=64" all but so many open files.
func restrict(what string) error {
	if what == "nobody" && os.Getuid() == 0 {
		return syscall.Setuid(nobody)
	}
	if n, ok := strings.CutPrefix(what, "files="); ok {
		most, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			return err
		}
		return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
	}
	return nil
}
