package userenv

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// patience is how long launchctl may take, which answers at once.
const patience = 2 * time.Second

func ofUser(name string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/launchctl", "getenv", name).Output()
	value := strings.TrimSuffix(string(out), "\n")
	return value, err == nil && value != "" // of one that is not set it prints nothing
}
