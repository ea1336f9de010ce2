package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user and group that the image runs as: the one that distroless images call nonroot.
const nobody = 65532

// image writes an archive in OCI layout with an image for each binary, by platform: nothing but the binary, its licences and
// a folder /data that its user may write to.
func (r *release) image(binaries map[string]string, out string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range slices.Sorted(maps.Keys(binaries)) {
		system, processor, _ := strings.Cut(platform, "/")
		img, err := r.imageOf(binaries[platform], system, processor)
		if err != nil {
			return fmt.Errorf("image for %s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: system, Architecture: processor}},
		})
	}
	folder := filepath.Join(r.work, "image")
	if _, err := layout.Write(folder, index); err != nil {
		return err
	}
	var files []file
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, file{filepath.ToSlash(name), path, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	err = tarred(to, "", files, r.time)
	if closed := to.Close(); err == nil {
		err = closed
	}
	return err
}

func (r *release) imageOf(binary, system, processor string) (v1.Image, error) {
	content, err := r.layer(binary)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	if img, err = mutate.AppendLayers(img, layer); err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = system, processor
	config.Created = v1.Time{Time: r.time}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", nobody, nobody), WorkingDir: "/data", Entrypoint: []string{"/rag"}, Env: []string{"RAG_DIR=/data", "HOME=/data"},
		Labels: map[string]string{"org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.title": "rag"},
	}
	return mutate.ConfigFile(img, config)
}

// layer is the one layer of an image.
func (r *release) layer(binary string) ([]byte, error) {
	var packed bytes.Buffer
	t := tar.NewWriter(&packed)
	header := tar.Header{Name: "data/", Mode: 0o750, Uid: nobody, Gid: nobody, ModTime: r.time, Typeflag: tar.TypeDir, Format: tar.FormatPAX}
	if err := t.WriteHeader(&header); err != nil {
		return nil, err
	}
	if err := t.Flush(); err != nil {
		return nil, err
	}
	files := []file{{"rag", binary, 0o755}, {"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644}, {"THIRD_PARTY.md", filepath.Join(r.root, "THIRD_PARTY.md"), 0o644}}
	if err := tarred(&packed, "", files, r.time); err != nil { // ends the archive
		return nil, err
	}
	return packed.Bytes(), nil
}
