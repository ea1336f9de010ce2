package ragtest

import (
	"errors"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func (s *catalogSuite) pictures() {
	want := func(collection, uri string, data ...string) {
		s.Helper()
		d, err := s.it.Document(s.Context(), collection, uri)
		if err != nil {
			s.Fatal(err)
		}
		var got []string
		for _, img := range d.Images {
			got = append(got, string(img.Data))
		}
		if diff := gocmp.Diff(data, got); diff != "" {
			s.Errorf("pictures of %s in %s (-want +got):\n%s", uri, collection, diff)
		}
	}
	s.commit("one", illustrated("a", "x", "y", "x"), illustrated("b", "x"))
	s.commit("two", illustrated("a", "y", "x"))
	want("one", "a", "x", "y", "x")
	s.commit("one", illustrated("a", "y"))
	want("one", "b", "x")
	s.commit("one", rag.Change{Remove: "a"})
	want("two", "a", "y", "x")
	if err := s.it.Drop(s.Context(), "one"); err != nil {
		s.Fatal(err)
	}
	want("two", "a", "y", "x")
	s.commit("two", illustrated("a", "z"), illustrated("b", "x"))
	want("two", "b", "x")
	want("two", "a", "z")
}

// image reads pictures by ID while their owners come and go, and compares with what Collections counts.
func (s *catalogSuite) image() {
	want := func(collection string, data ...string) {
		s.Helper()
		for _, d := range []string{"x", "y", "z"} {
			got, err := s.it.Image(s.Context(), collection, picture(d).ID)
			if slices.Contains(data, d) {
				if err != nil || string(got) != d {
					s.Errorf("picture %s of %s is %q, %v", d, collection, got, err)
				}
			} else if !errors.Is(err, rag.ErrNotFound) || got != nil {
				s.Errorf("picture %s, which %s has not: %q, %v; want ErrNotFound", d, collection, got, err)
			}
		}
		infos, err := s.it.Collections(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		for _, info := range infos {
			if info.Name == collection && info.Images != len(data) {
				s.Errorf("%s counts %d pictures, want %d", collection, info.Images, len(data))
			}
		}
	}
	want("one")
	s.commit("one", illustrated("a", "x", "y", "x"), illustrated("b", "x"))
	s.commit("two", illustrated("a", "z"))
	want("one", "x", "y")
	want("two", "z")
	s.commit("one", rag.Change{Remove: "a"})
	want("one", "x")
	s.commit("one", illustrated("b", "z"))
	want("one", "z")
	s.commit("two", rag.Change{Remove: "a"})
	want("two")
	want("one", "z")
	for _, id := range []string{"", "no ID", picture("z").ID[:62], picture("z").ID + "00"} {
		if _, err := s.it.Image(s.Context(), "one", id); !errors.Is(err, rag.ErrNotFound) {
			s.Errorf("picture %q: %v, want ErrNotFound", id, err)
		}
	}
}
