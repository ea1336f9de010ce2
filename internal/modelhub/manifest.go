package modelhub

import (
	"crypto/sha1" // of git objects, by which the hub names small files
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// ManifestName is the file in a pulled model's folder that says what was pulled.
const ManifestName = "rag-model.json"

// Manifest says what was pulled, so that it can be verified later.
type Manifest struct {
	Name       string         `json:"name"`
	Repository string         `json:"repository"`
	Revision   string         `json:"revision"`
	Files      []ManifestFile `json:"files"`
}

// ManifestFile is one file of a manifest.
type ManifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // hex
	Proof  string `json:"proof"`  // by what it was checked when it was pulled: one of the Proof constants

	git string // SHA-1 of the git object, hex
}

// By what a file was checked.
const (
	ProofPinned   = "pinned"   // the digest that the program knows
	ProofHub      = "hub"      // the digest that the hub stated
	ProofManifest = "manifest" // the digest that the pull wrote down
	ProofNone     = "none"     // nothing was known of it
)

func (m Manifest) write(dir string) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ManifestName), append(raw, '\n'), 0o644)
}

// readManifest reads the manifest of a folder; one that is absent is empty.
func readManifest(dir string) (Manifest, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := strict.Unmarshal(raw, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s: %v: %w", filepath.Join(dir, ManifestName), err, ErrMismatch)
	}
	return m, nil
}

// digestFile reads a file and returns its size and digests.
func digestFile(path string) (ManifestFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return ManifestFile{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ManifestFile{}, err
	}
	content, object := sha256.New(), sha1.New()
	fmt.Fprintf(object, "blob %d\x00", info.Size())
	n, err := io.Copy(io.MultiWriter(content, object), f)
	if err != nil {
		return ManifestFile{}, err
	}
	return ManifestFile{
		Name: filepath.Base(path), Size: n,
		SHA256: hex.EncodeToString(content.Sum(nil)), git: hex.EncodeToString(object.Sum(nil)),
	}, nil
}

// Verification is what became of a model's files.
type Verification struct {
	OK    bool // all files are there, and none is known to differ
	Files []FileState
}

// FileState is one file of a Verification.
type FileState struct {
	Name   string
	State  string // one of the State constants
	Proof  string // what it was compared with
	Size   int64  // bytes; 0 if missing
	SHA256 string // hex; "" if missing
	Want   string // the digest it should have, hex; "" if nothing is known
}

// States of a file.
const (
	StateOK        = "ok"
	StateUnknown   = "unknown" // it is there, and nothing is known to compare it with
	StateMissing   = "missing"
	StateDifferent = "different"
)

// Verify compares a model's folder with the digests that the card pins, and where it pins none with those that the
// pull wrote down.
func Verify(card Card, dir string) Verification {
	manifest, err := readManifest(dir)
	v := Verification{OK: true}
	if err != nil {
		v = Verification{Files: []FileState{{Name: ManifestName, State: StateDifferent, Proof: ProofNone}}}
	}
	for _, name := range FileNames {
		s := FileState{Name: name, Proof: ProofNone, State: StateUnknown}
		if pin := card.file(name); pin.SHA256 != "" {
			s.Want, s.Proof = pin.SHA256, ProofPinned
		} else if f, ok := manifest.file(name); ok && manifest.Revision == card.Revision {
			s.Want, s.Proof = f.SHA256, ProofManifest
		}
		f, err := digestFile(filepath.Join(dir, name))
		s.Size, s.SHA256 = f.Size, f.SHA256
		switch {
		case err != nil:
			s.State = StateMissing
		case s.Want == "":
		case s.Want == s.SHA256:
			s.State = StateOK
		default:
			s.State = StateDifferent
		}
		v.OK = v.OK && (s.State == StateOK || s.State == StateUnknown)
		v.Files = append(v.Files, s)
	}
	return v
}

func (m Manifest) file(name string) (ManifestFile, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return ManifestFile{}, false
}

// unproven returns the files that nothing could be compared with.
func (v Verification) unproven() []string {
	var names []string
	for _, f := range v.Files {
		if f.State == StateUnknown {
			names = append(names, f.Name)
		}
	}
	return names
}

// manifest returns the files as a manifest lists them.
func (v Verification) manifest() []ManifestFile {
	files := make([]ManifestFile, len(v.Files))
	for i, f := range v.Files {
		files[i] = ManifestFile{Name: f.Name, Size: f.Size, SHA256: f.SHA256, Proof: f.Proof}
	}
	return files
}
