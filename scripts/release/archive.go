package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is one of an archive.
type file struct {
	name string // in the archive
	path string // where it lies
	mode int64
}

// archive packs files into NAME.tar.gz, for Windows into NAME.zip, below a folder of that name.
func (r *release) archive(name, platform string, files []file) error {
	if strings.HasPrefix(platform, "windows/") {
		var packed bytes.Buffer
		if err := zipped(&packed, name, files, r.time); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(r.out, name+".zip"), packed.Bytes(), 0o644)
	}
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	if err := tarred(gz, name+"/", files, r.time); err != nil {
		return err
	}
	if err := gz.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), packed.Bytes(), 0o644)
}

// tarred writes files with nobody's names and one time.
func tarred(w io.Writer, prefix string, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		h := tar.Header{Name: prefix + f.name, Mode: f.mode, Size: int64(len(content)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}

func zipped(w io.Writer, folder string, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		h := zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		to, err := z.CreateHeader(&h)
		if err != nil {
			return err
		}
		if _, err := to.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
}
