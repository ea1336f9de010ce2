package dashboard

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
)

//go:embed templates
var templateFiles embed.FS

// pageSet holds the templates of one language by name: each is the layout around its page.
type pageSet map[string]*template.Template

// parsePages reads the templates once for each language.
func (s *Server) parsePages() map[string]pageSet {
	sets := map[string]pageSet{}
	for _, lang := range languages {
		shared := template.Must(template.New("").Funcs(s.funcs(lang)).ParseFS(templateFiles, "templates/layout.html", "templates/parts*.html"))
		sets[lang] = pageSet{}
		files, err := fs.Glob(templateFiles, "templates/*.html")
		if err != nil {
			panic("dashboard: " + err.Error())
		}
		for _, file := range files {
			name := strings.TrimSuffix(path.Base(file), ".html")
			if name == "layout" || strings.HasPrefix(name, "parts") {
				continue
			}
			sets[lang][name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, file))
		}
	}
	return sets
}

// redirect is a view that sends the browser to another page: a URL as [Server.link] makes it.
type redirect string

// written is the view of a handler that has written its answer.
type written struct{}

// titled is implemented by views that have a better title than their page.
type titled interface {
	title(*request) string
}

// statused is implemented by views that may show what went wrong in their own form: the status of HTTP goes with it.
type statused interface {
	status() int
}

// answer makes a handler of a function that returns what a page shows. A panic becomes an error page, and is logged.
func (s *Server) answer(page, name string, show func(*request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := s.request(w, plain)
		s.keepChoices(r)
		view, err := s.try(r, show)
		switch view := view.(type) {
		case written:
			if err == nil {
				return
			}
		case redirect:
			if err == nil {
				s.redirect(r, string(view))
				return
			}
		}
		switch {
		case err == nil:
			status := http.StatusOK
			if v, ok := view.(statused); ok {
				status = v.status()
			}
			s.show(r, page, name, status, view)
		case errors.Is(err, context.Canceled) && r.Context().Err() != nil: // nobody waits for it any more
		default:
			p := problemOf(r, err)
			s.show(r, page, "problem", p.Status, p)
		}
	})
}

// try calls show and turns a panic into an error.
func (s *Server) try(r *request, show func(*request) (any, error)) (view any, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // the value itself is the sign
				panic(p)
			}
			s.log.Error("page panicked", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			view, err = nil, errInternal
		}
	}()
	return show(r)
}

// redirect sends the browser on after a change; a program is told where.
func (s *Server) redirect(r *request, to string) {
	if r.wantsJSON() {
		s.writeJSON(r, http.StatusOK, map[string]string{"next": to})
		return
	}
	http.Redirect(r.w, r.Request, to, http.StatusSeeOther)
}

// show writes a view in the form that is asked for.
func (s *Server) show(r *request, page, name string, status int, view any) {
	if r.wantsJSON() {
		s.writeJSON(r, status, view)
		return
	}
	f, err := s.frame(r, page, name, view)
	var b bytes.Buffer
	if err == nil {
		err = s.pages[r.lang][name].ExecuteTemplate(&b, "layout", f)
	}
	if err != nil {
		s.log.Error("page not rendered", "page", name, "error", err)
		http.Error(r.w, r.T("error.internal"), http.StatusInternalServerError)
		return
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(visible(b.Bytes())) // the reader may have gone
}

func (s *Server) writeJSON(r *request, status int, view any) {
	b, err := json.MarshalIndent(view, "", "  ")
	if err != nil {
		s.log.Error("page not written as JSON", "path", r.URL.Path, "error", err)
		http.Error(r.w, r.T("error.internal"), http.StatusInternalServerError)
		return
	}
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(append(b, '\n')) // the reader may have gone
}

// frame is what the layout shows around a view.
type frame struct {
	View        any
	Name        string // of the template
	Title       string
	Lang        string
	Theme       string // "light", "dark" or "": as the reader's system says
	Nav         []navItem
	Collection  string
	Collections []string
	Start       string // where the page begins, with another collection too
	Languages   []choice
	Themes      []choice
	JSON        string // URL of the page as JSON; "": what came of a change has none
	ReadOnly    bool
	LoggedIn    bool
	Styles      []string // of the page, by asset name
	Scripts     []string
}

type navItem struct {
	Name, URL string
	Here      bool
}

type choice struct {
	Name, URL string
	Chosen    bool
}

func (s *Server) frame(r *request, page, name string, view any) (*frame, error) {
	f := &frame{View: view, Name: name, Lang: r.lang, Theme: themeOf(r), Collection: r.collection, ReadOnly: s.o.ReadOnly, LoggedIn: s.o.Token != "" && s.loggedIn(r.Request)}
	if t, ok := view.(titled); ok {
		f.Title = t.title(r)
	} else {
		f.Title = r.T(name + ".title")
	}
	start := "/"
	for _, p := range pages() {
		f.Nav = append(f.Nav, navItem{p.name, s.link(p.path, "collection", s.named(r.collection)), p.name == page})
		if p.name == page {
			start = p.path
		}
	}
	f.Start = s.link(start)
	with := r.here
	if r.Method == http.MethodPost { // what came of a change has no address: choices lead to where the page begins
		with = func(name, value string) string {
			return s.link(start, name, value, "collection", s.named(r.collection))
		}
	} else {
		f.JSON = r.here("format", "json")
	}
	for _, lang := range languages {
		f.Languages = append(f.Languages, choice{lang, with("lang", lang), lang == r.lang})
	}
	for _, theme := range themes {
		f.Themes = append(f.Themes, choice{theme, with("theme", theme), theme == f.Theme || theme == themeAuto && f.Theme == ""})
	}
	f.Styles, f.Scripts = s.pageAssets(page)
	if s.o.Token != "" && !f.LoggedIn {
		return f, nil // names of collections are for those who may see them
	}
	infos, err := s.eng.Collections(r.Context())
	if err != nil && name != "problem" { // a problem is shown even so
		return nil, err
	}
	for _, info := range infos {
		f.Collections = append(f.Collections, info.Name)
	}
	return f, nil
}

// named returns the name of a collection as URLs carry it: "" for the one that needs no naming.
func (s *Server) named(collection string) string {
	if collection == s.o.Collection {
		return ""
	}
	return collection
}
