package modelhub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/filelock"
	"github.com/seed-d8745b77/rag/internal/httpjson"
)

// DefaultHub is where models are fetched from unless a mirror is named.
const DefaultHub = "https://huggingface.co"

// Puller fetches models. The zero value is ready to use; it is not safe for concurrent use.
type Puller struct {
	Mirror   string                                     // base address of a hub; "": DefaultHub
	Progress func(Progress)                             // called as bytes arrive; nil: silent
	Retrying func(err error, after time.Duration)       // called before each wait; nil: silent
	Attempts int                                        // tries of a file in a row that bring no byte; 0: 5
	Stall    time.Duration                              // a connection that brings nothing for so long is given up; 0: 60 s
	Sleep    func(context.Context, time.Duration) error // waits between tries; nil: by the clock
	Waiting  func(pid int)                              // called once if another pulls the model, by its process ID or 0; nil: silent
}

// Progress is how far a pull is.
type Progress struct {
	File  string
	Done  int64 // bytes of the file that are here
	Total int64 // bytes of the file; 0 if the hub does not say
}

// Defaults of a Puller.
const (
	defaultAttempts = 5
	defaultStall    = 60 * time.Second
)

// Pulled is what a pull did.
type Pulled struct {
	Dir     string // folder of the model
	Fetched bool   // false: it was there, whole and unchanged
	Files   []ManifestFile
}

// Pull brings a model into the folder NAME below dir. Files are fetched into a folder beside it, resumed where an
// earlier pull was cut short, compared with the digests that the card pins or else that the hub states, and the folder
// is put in place at once when all are right. A model that is already there and unchanged is left alone, a damaged one
// replaced. While another process, or another call, pulls the same model, Pull waits for it. Errors are of kind ErrUnavailable, ErrNotFound, ErrMismatch, ErrUnsupported or ErrInvalid, or ctx's.
func (p *Puller) Pull(ctx context.Context, card Card, dir string) (Pulled, error) {
	if err := card.Refusal(); err != nil {
		return Pulled{}, err
	}
	if card.Repository == "" {
		return Pulled{}, fmt.Errorf("%s is part of the program, there is nothing to fetch: %w", card.Name, ErrUnsupported)
	}
	target := filepath.Join(dir, card.Name)
	lock, err := p.lock(ctx, dir, card.Name)
	if err != nil {
		return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
	}
	pulled, err := p.pullInto(ctx, card, dir, target)
	return pulled, errors.Join(err, lock.Release(true))
}

// lockRetry is how long a pull waits for another before it looks whether its context has ended.
const lockRetry = time.Second

// lock keeps other pulls of the model out.
func (p *Puller) lock(ctx context.Context, dir, name string) (*filelock.Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	told, wait := false, time.Duration(0)
	for {
		lock, err := filelock.Take(filepath.Join(dir, ".pull-"+name+".lock"), wait)
		var held *filelock.HeldError
		if !errors.As(err, &held) {
			return lock, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("process %d pulls it: %w", held.PID, context.Cause(ctx))
		}
		if !told && p.Waiting != nil {
			p.Waiting(held.PID)
		}
		told, wait = true, lockRetry
	}
}

// pullInto is Pull for a model that no other pull is at.
func (p *Puller) pullInto(ctx context.Context, card Card, dir, target string) (Pulled, error) {
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) { // a swap may have been cut short
		if err := os.Rename(target+oldSuffix, target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
		}
	}
	if there := Verify(card, target); there.OK && len(there.unproven()) == 0 {
		return Pulled{Dir: target, Files: there.manifest()}, nil
	}
	hub, err := p.hub()
	if err != nil {
		return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
	}
	stage := filepath.Join(dir, ".pull-"+card.Name)
	if err := os.MkdirAll(stage, 0o755); err != nil {
		return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
	}
	from := hub + "/" + card.Repository + "/resolve/" + card.Revision + "/"
	m := Manifest{Name: card.Name, Repository: card.Repository, Revision: card.Revision}
	for _, name := range FileNames {
		f, err := p.file(ctx, from+name, card.file(name), filepath.Join(stage, name))
		if err != nil {
			return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
		}
		m.Files = append(m.Files, f)
	}
	if err := m.write(stage); err != nil {
		return Pulled{}, fmt.Errorf("pull %s: %w", card.Name, err)
	}
	if err := swap(stage, target); err != nil {
		return Pulled{}, fmt.Errorf("pull %s: put it in place: %w", card.Name, err)
	}
	return Pulled{Dir: target, Fetched: true, Files: m.Files}, nil
}

// file brings one file to path, unless an earlier pull has, and says how it was proven.
func (p *Puller) file(ctx context.Context, from string, known File, path string) (ManifestFile, error) {
	if known.SHA256 != "" { // what the card does not pin is fetched again: nothing could prove it
		if f, err := digestFile(path); err == nil && f.SHA256 == known.SHA256 {
			f.Proof = ProofPinned
			return f, nil
		}
	}
	d := &download{
		url: from, path: path + ".part", size: known.Size, pin: known.SHA256,
		progress: func(done, total int64) {
			if p.Progress != nil {
				p.Progress(Progress{File: known.Name, Done: done, Total: total})
			}
		},
		stall: p.stall(),
	}
	if err := d.remember(); err != nil {
		return ManifestFile{}, err
	}
	if err := p.persist(ctx, d); err != nil {
		return ManifestFile{}, err
	}
	f, err := digestFile(d.path)
	if err != nil {
		return ManifestFile{}, err
	}
	f.Name, f.Proof = known.Name, d.proof()
	return f, errors.Join(os.Rename(d.path, path), d.forget())
}

// persist tries until the file is here and right, and waits longer after each try that brought nothing.
func (p *Puller) persist(ctx context.Context, d *download) error {
	attempts := p.Attempts
	if attempts <= 0 {
		attempts = defaultAttempts
	}
	for idle := 0; ; {
		gained, err := d.try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var again *retryError
		if !errors.As(err, &again) {
			return err
		}
		if idle++; gained {
			idle = 1
		}
		if idle >= attempts {
			return fmt.Errorf("%s: %w", d.url, err)
		}
		wait := max(again.after, backoff(idle))
		if p.Retrying != nil {
			p.Retrying(err, wait)
		}
		if err := p.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// backoff is the wait after so many tries that brought nothing: 1 s, 2 s, 4 s and so on.
func backoff(idle int) time.Duration { return time.Second << (idle - 1) }

func (p *Puller) sleep(ctx context.Context, d time.Duration) error {
	if p.Sleep != nil {
		return p.Sleep(ctx, d)
	}
	return httpjson.Sleep(ctx, d)
}

// hub returns the base address to fetch from.
func (p *Puller) hub() (string, error) {
	hub := cmp.Or(p.Mirror, DefaultHub)
	u, err := url.Parse(hub)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("%q is not the address of a hub, such as https://models.example.org: %w", hub, ErrInvalid)
	}
	return strings.TrimRight(hub, "/"), nil
}

func (p *Puller) stall() time.Duration {
	if p.Stall > 0 {
		return p.Stall
	}
	return defaultStall
}

// oldSuffix ends the name of the folder that a swap is about to replace.
const oldSuffix = ".old"

// swap puts the folder stage in the place of target, which may exist. There is a model at each moment: target, or the
// old one beside it, which [Folder] finds too.
func swap(stage, target string) error {
	old := target + oldSuffix
	_, err := os.Stat(target)
	there := err == nil
	if there {
		if err := errors.Join(os.RemoveAll(old), os.Rename(target, old)); err != nil {
			return err
		}
	}
	if err := os.Rename(stage, target); err != nil {
		if there {
			err = errors.Join(err, os.Rename(old, target))
		}
		return err
	}
	return os.RemoveAll(old)
}
