package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages link to. Its URL has its hash, so it is fetched once and then kept.
type asset struct {
	data []byte
	hash string
}

// loadAssets reads what is embedded, by name.
func loadAssets() map[string]asset {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic("dashboard: " + err.Error())
	}
	files := map[string]asset{}
	for _, e := range entries {
		data, err := assetFiles.ReadFile("assets/" + e.Name())
		if err != nil {
			panic("dashboard: " + err.Error())
		}
		sum := sha256.Sum256(data)
		files[e.Name()] = asset{data, hex.EncodeToString(sum[:8])}
	}
	return files
}

// assetURL returns where a file is; an unknown name is a mistake in a template.
func (s *Server) assetURL(name string) string {
	a, ok := s.files[name]
	if !ok {
		panic("dashboard: no asset " + name)
	}
	return s.link("/assets/"+name, "v", a.hash)
}

// pageAssets returns the style sheets and scripts that only one page has.
func (s *Server) pageAssets(page string) (styles, scripts []string) {
	if _, ok := s.files[page+".css"]; ok {
		styles = []string{page + ".css"}
	}
	if _, ok := s.files[page+".js"]; ok {
		scripts = []string{page + ".js"}
	}
	return styles, scripts
}

// serveAsset answers with a file. Under its hash it never changes; under its name alone the browser asks again.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	cache := "no-cache"
	if r.URL.Query().Get("v") == a.hash {
		cache = "public, max-age=31536000, immutable"
	}
	w.Header().Set("Cache-Control", cache)
	w.Header().Set("ETag", `"`+a.hash+`"`)
	w.Header().Set("Content-Type", mediaType(name))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.data))
}

// mediaType is that of an asset, whatever the system's table says.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
