//go:build !unix

package postgres_test

import "os/exec"

func giveToServer(string) error { return nil }

func asServer(cmd *exec.Cmd) *exec.Cmd { return cmd }
