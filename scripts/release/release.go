package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// programs are what is released: the name of the binary, and where it is built.
var programs = []struct{ name, module, pkg string }{
	{"rag", ".", "./cmd/rag"},
	{"rag-postgres", "postgres", "./cmd/rag"},
}

// beside are the files that go into each archive.
var beside = []string{"LICENSE", "THIRD_PARTY.md", "README.md", "CHANGELOG.md"}

// release is one in the making.
type release struct {
	root, out, work string // the project; what is made; what is in between
	version         string
	time            time.Time // of the commit: of every file in every archive
}

func newRelease(ctx context.Context, root, out, version string) (*release, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	return &release{root: root, out: out, work: work, version: version, time: committed(ctx, root)}, nil
}

func (r *release) close() error { return os.RemoveAll(r.work) }

// committed is when the commit was made; a project outside git has the time at which Go began to count.
func committed(ctx context.Context, root string) time.Time {
	cmd := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct")
	cmd.Dir = root
	text, err := cmd.Output()
	seconds, parsed := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || parsed != nil {
		return time.Unix(0, 0).UTC()
	}
	return time.Unix(seconds, 0).UTC()
}

// make builds everything.
func (r *release) make(ctx context.Context, platforms []string) error {
	common, err := r.common(ctx)
	if err != nil {
		return err
	}
	images := map[string]string{} // platform → binary
	for _, platform := range platforms {
		for _, p := range programs {
			binary, err := r.build(ctx, p.module, p.pkg, p.name, platform)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s_%s_%s", p.name, strings.TrimPrefix(r.version, "v"), strings.ReplaceAll(platform, "/", "_"))
			if err := r.archive(name, platform, append([]file{{filepath.Base(binary), binary, 0o755}}, common...)); err != nil {
				return err
			}
			if err := r.materials(binary, filepath.Join(r.out, name+".sbom.json")); err != nil {
				return err
			}
			if p.name == "rag" && strings.HasPrefix(platform, "linux/") {
				images[platform] = binary
			}
		}
	}
	if len(images) > 0 {
		if err := r.image(images, filepath.Join(r.out, "rag_"+strings.TrimPrefix(r.version, "v")+"_image.tar")); err != nil {
			return err
		}
	}
	return r.checksums()
}

// common makes the files that every archive has: texts, manual pages and completions, which the command itself prints.
func (r *release) common(ctx context.Context) ([]file, error) {
	var files []file
	for _, name := range beside {
		files = append(files, file{name, filepath.Join(r.root, name), 0o644})
	}
	command, err := r.build(ctx, ".", "./cmd/rag", "rag", "")
	if err != nil {
		return nil, err
	}
	man := filepath.Join(r.work, "man")
	if err := execute(ctx, command, []string{"man", man}, step{dir: r.work}); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		files = append(files, file{"man/" + filepath.Base(p), p, 0o644})
	}
	for shell, name := range map[string]string{"bash": "rag.bash", "zsh": "_rag", "fish": "rag.fish", "powershell": "rag.ps1"} {
		at := filepath.Join(r.work, name)
		script, err := os.Create(at)
		if err != nil {
			return nil, err
		}
		err = execute(ctx, command, []string{"completion", shell}, step{dir: r.work, out: script})
		if closed := script.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + name, at, 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// build makes a static binary for a platform, or the one at hand, and returns where it is.
func (r *release) build(ctx context.Context, module, pkg, name, platform string) (string, error) {
	env := []string{"CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="}
	if system, processor, ok := strings.Cut(platform, "/"); ok {
		env = append(env, "GOOS="+system, "GOARCH="+processor)
		if system == "windows" {
			name += ".exe"
		}
	}
	binary := filepath.Join(r.work, strings.ReplaceAll(platform, "/", "_"), name)
	args := []string{"build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w -X github.com/seed-d8745b77/rag/cli.release=" + r.version, "-o", binary, pkg}
	return binary, execute(ctx, "go", args, step{dir: filepath.Join(r.root, module), env: env})
}

// step says where and how a program runs.
type step struct {
	dir string
	env []string  // beside that of the process
	out io.Writer // nil: what it prints is shown where it fails
}

// execute runs a program to its end.
func execute(ctx context.Context, program string, args []string, s step) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout = s.dir, s.out
	cmd.Env = append(os.Environ(), s.env...)
	var said strings.Builder
	cmd.Stderr = &said
	if s.out == nil {
		cmd.Stdout = &said
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), args[0], err, said.String())
	}
	return nil
}

// checksums lists the SHA-256 of everything, in the form that sha256sum -c reads.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, e := range entries {
		f, err := os.Open(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		_ = f.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", h.Sum(nil), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
