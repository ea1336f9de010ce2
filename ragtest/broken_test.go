package ragtest_test

import (
	"cmp"
	"context"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// brokenEnv names the broken provider that a run of this test binary as another process tests.
const brokenEnv = "RAGTEST_BROKEN"

// broken providers, and the sentence that each must fail.
var broken = map[string]struct {
	sentence string
	run      func(t *testing.T)
}{
	"store without filters": {"every filter gives exactly min(K, matches), whatever its selectivity", storeThat(func(s *brokenStore) {
		s.search = func(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
			q.Filter = rag.Filter{}
			return s.Flat.Search(ctx, c, q)
		}
	})},
	"store that filters behind the search": {"every filter gives exactly min(K, matches), whatever its selectivity", storeThat(func(s *brokenStore) {
		s.search = s.postFilter
	})},
	"store with ties in reverse": {"equal scores are ordered by ID", storeThat(func(s *brokenStore) {
		s.search = func(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
			got, err := s.Flat.Search(ctx, c, q)
			slices.SortFunc(got, func(a, b rag.Match) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.ID, a.ID))
			})
			return got, err
		}
	})},
	"store that misses one in three": {"the nearest are found", storeThat(func(s *brokenStore) {
		s.search = func(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
			k := q.K
			q.K *= 2
			got, err := s.Flat.Search(ctx, c, q)
			kept := got[:0]
			for i, m := range got {
				if i%3 != 1 {
					kept = append(kept, m)
				}
			}
			return kept[:min(k, len(kept))], err
		}
	})},
	"store that ignores deletes": {"1,000 rounds of add, delete and re-add agree with a map", storeThat(func(s *brokenStore) {
		s.delete = func(context.Context, string, []string) error { return nil }
	})},
	"store that forgets": {"reopen finds all", func(t *testing.T) {
		ragtest.TestVectorStore(t, func(t *testing.T, _ string) rag.VectorStore { return flat(t) })
	}},
	"store that takes NaN for zero": {"a vector that is zero or not finite is ErrInvalid, and nothing of the call is written", storeThat(func(s *brokenStore) {
		s.upsert = func(ctx context.Context, c string, recs []rag.VectorRecord) error {
			for _, r := range recs {
				for i, x := range r.Vector {
					if x != x {
						r.Vector[i] = 0
					}
				}
			}
			return s.Flat.Upsert(ctx, c, recs)
		}
	})},
	"catalog that loses the order": {"Chunks gives the live ones in the order asked", catalogThat(func(c *brokenCatalog) {
		c.chunks = func(ctx context.Context, name string, ids []string) ([]rag.Chunk, error) {
			return c.Memory.Chunks(ctx, name, slices.Sorted(slices.Values(ids)))
		}
	})},
	"catalog that commits change by change": {"a commit is all or nothing", catalogThat(func(c *brokenCatalog) {
		c.commit = func(ctx context.Context, name string, changes []rag.Change) error {
			for _, change := range changes {
				if err := c.Memory.Commit(ctx, name, []rag.Change{change}); err != nil {
					return err
				}
			}
			return nil
		}
	})},
	"catalog that lists everything": {"Entries of a prefix yields those whose URI begins with it", catalogThat(func(c *brokenCatalog) {
		c.entries = func(ctx context.Context, name, _, after string) iter.Seq2[rag.Entry, error] {
			return c.Memory.Entries(ctx, name, "", after)
		}
	})},
	"catalog that begins again": {"Entries after a URI yields those behind it", catalogThat(func(c *brokenCatalog) {
		c.entries = func(ctx context.Context, name, prefix, _ string) iter.Seq2[rag.Entry, error] {
			return c.Memory.Entries(ctx, name, prefix, "")
		}
	})},
	"catalog that scans everything": {"Scan applies Filter.Match, by URI and ordinal", catalogThat(func(c *brokenCatalog) {
		c.scan = func(ctx context.Context, name string, _ rag.Filter) iter.Seq2[rag.Chunk, error] {
			return c.Memory.Scan(ctx, name, rag.Filter{})
		}
	})},
	"catalog that keeps the first version": {"a put replaces the document of its URI with its chunks", catalogThat(func(c *brokenCatalog) {
		c.commit = func(ctx context.Context, name string, changes []rag.Change) error {
			changes = slices.DeleteFunc(slices.Clone(changes), func(ch rag.Change) bool {
				if ch.Put == nil {
					return false
				}
				_, err := c.Entry(ctx, name, ch.Put.Entry.URI)
				return err == nil
			})
			return c.Memory.Commit(ctx, name, changes)
		}
	})},
}

// TestSuitesCatchBrokenProviders runs each broken provider in another process and wants its sentence to fail there.
func TestSuitesCatchBrokenProviders(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			sub := strings.ReplaceAll(b.sentence, " ", "_")
			cmd := exec.Command(exe, "-test.v", "-test.run=^TestBrokenProvider$/^"+regexp.QuoteMeta(sub)+"$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBrokenProvider/"+sub) {
				t.Errorf("the suite did not fail in %q (%v):\n%s", b.sentence, err, out)
			}
		})
	}
}

// TestBrokenProvider is what the other process runs.
func TestBrokenProvider(t *testing.T) {
	name := os.Getenv(brokenEnv)
	if name == "" {
		t.Skip("run by TestSuitesCatchBrokenProviders")
	}
	broken[name].run(t)
}

func flat(t *testing.T) *vectorstore.Flat {
	f, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// brokenStore is a good store of which one method is replaced.
type brokenStore struct {
	*vectorstore.Flat
	upsert func(context.Context, string, []rag.VectorRecord) error
	search func(context.Context, string, rag.VectorQuery) ([]rag.Match, error)
	delete func(context.Context, string, []string) error
	fields map[string]rag.VectorRecord
}

func storeThat(breakIt func(*brokenStore)) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestVectorStore(t, func(t *testing.T, _ string) rag.VectorStore {
			s := &brokenStore{Flat: flat(t), fields: map[string]rag.VectorRecord{}}
			s.upsert, s.search, s.delete = s.Flat.Upsert, s.Flat.Search, s.Flat.Delete
			breakIt(s)
			return s
		}, ragtest.Volatile())
	}
}

func (s *brokenStore) Upsert(ctx context.Context, c string, recs []rag.VectorRecord) error {
	for _, r := range recs {
		s.fields[r.ID] = r
	}
	return s.upsert(ctx, c, recs)
}

func (s *brokenStore) Search(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
	return s.search(ctx, c, q)
}

func (s *brokenStore) Delete(ctx context.Context, c string, ids []string) error {
	return s.delete(ctx, c, ids)
}

// postFilter filters the 100 nearest, as some engines do: a selective filter then finds too few.
func (s *brokenStore) postFilter(ctx context.Context, c string, q rag.VectorQuery) ([]rag.Match, error) {
	got, err := s.Flat.Search(ctx, c, rag.VectorQuery{Vector: q.Vector, K: max(q.K, 100)})
	got = slices.DeleteFunc(got, func(m rag.Match) bool {
		return !q.Filter.Match(s.fields[m.ID].Meta, s.fields[m.ID].Validity)
	})
	return got[:min(q.K, len(got))], err
}

// brokenCatalog is a good catalog of which one method is replaced.
type brokenCatalog struct {
	*catalog.Memory
	chunks func(context.Context, string, []string) ([]rag.Chunk, error)
	commit func(context.Context, string, []rag.Change) error
	scan   func(context.Context, string, rag.Filter) iter.Seq2[rag.Chunk, error]

	entries func(ctx context.Context, name, prefix, after string) iter.Seq2[rag.Entry, error]
}

func catalogThat(breakIt func(*brokenCatalog)) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestCatalog(t, func(*testing.T, string) rag.Catalog {
			c := &brokenCatalog{Memory: catalog.NewMemory()}
			c.chunks, c.commit, c.scan, c.entries = c.Memory.Chunks, c.Memory.Commit, c.Memory.Scan, c.Memory.Entries
			breakIt(c)
			return c
		}, ragtest.Volatile())
	}
}

func (c *brokenCatalog) Chunks(ctx context.Context, name string, ids []string) ([]rag.Chunk, error) {
	return c.chunks(ctx, name, ids)
}

func (c *brokenCatalog) Commit(ctx context.Context, name string, changes []rag.Change) error {
	return c.commit(ctx, name, changes)
}

func (c *brokenCatalog) Scan(ctx context.Context, name string, f rag.Filter) iter.Seq2[rag.Chunk, error] {
	return c.scan(ctx, name, f)
}

func (c *brokenCatalog) Entries(ctx context.Context, name, prefix, after string) iter.Seq2[rag.Entry, error] {
	return c.entries(ctx, name, prefix, after)
}
