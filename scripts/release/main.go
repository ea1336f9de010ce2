// Command release makes what a release consists of: archives of the static binaries for each platform, with manual pages
// and completions, their bills of materials, an image for containers, and the checksums of all.
//
//	release -version v1.2.3 [-root DIR] [-out dist] [-platforms linux/amd64,…]
//	release -changelog -version v1.2.3
//
// Two runs over one commit with one toolchain make the same bytes. With -changelog it only moves the entries of
// changelog/unreleased into CHANGELOG.md, which is done before the commit that is released.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
)

// platforms are those that releases are built for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// semantic is the form of a version, https://semver.org, with the v of Go modules before it.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "of the release: v1.2.3")
	root := flags.String("root", ".", "the project")
	out := flags.String("out", "dist", "folder for what is made; what it held is removed")
	list := flags.String("platforms", platforms, "what to build for")
	changelog := flags.Bool("changelog", false, "only gather the changelog")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !semantic.MatchString(*version) {
		return fmt.Errorf("-version %q: want a semantic version such as v1.2.3", *version)
	}
	if *changelog {
		return gather(*root, *version, committed(ctx, *root))
	}
	r, err := newRelease(ctx, *root, *out, *version)
	if err != nil {
		return err
	}
	return errors.Join(r.make(ctx, strings.Split(*list, ",")), r.close())
}
