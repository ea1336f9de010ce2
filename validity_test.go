package rag_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestDatesBeginAndEndInTheirZone(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Skip(err)
		}
		return z
	}
	for _, tt := range []struct {
		text, zone, first, end string // "" for the zero time, "-" for a text that is no date
	}{
		{"2026-03-01", "UTC", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
		{"2026-03-01", "Asia/Shanghai", "2026-02-28T16:00:00Z", "2026-03-01T16:00:00Z"},
		{"2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // a day of 23 hours
		{"2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // one of 25
		{"2026-12-31", "America/New_York", "2026-12-31T05:00:00Z", "2027-01-01T05:00:00Z"},
		{"2026-03-01T12:00:00+08:00", "America/New_York", "2026-03-01T04:00:00Z", "2026-03-01T04:00:00Z"},
		{"9999-12-31", "UTC", "9999-12-31T00:00:00Z", ""},
		{"9999-12-31T23:59:59-05:00", "UTC", "", ""},
		{"9999-12-30", "America/New_York", "9999-12-30T05:00:00Z", "9999-12-31T05:00:00Z"},
		{"0001-01-01", "UTC", "", "0001-01-02T00:00:00Z"},
		{"2026-02-30", "UTC", "-", "-"},
		{"soon", "UTC", "-", "-"},
		{"", "UTC", "-", "-"},
	} {
		t.Run(tt.text+" "+tt.zone, func(t *testing.T) {
			show := func(at time.Time, ok bool) string {
				switch {
				case !ok:
					return "-"
				case at.IsZero():
					return ""
				}
				return at.Format(time.RFC3339)
			}
			if got := show(rag.FirstInstant(tt.text, zone(tt.zone))); got != tt.first {
				t.Errorf("first instant %q, want %q", got, tt.first)
			}
			if got := show(rag.EndInstant(tt.text, zone(tt.zone))); got != tt.end {
				t.Errorf("end %q, want %q", got, tt.end)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		v    rag.Validity
		at   time.Time
		want string
	}{
		{"no policy", rag.Validity{Stated: true}, time.Time{}, ""},
		{"nothing stated", rag.Validity{}, day(1), rag.StatusNeedsReview},
		{"in force", rag.Validity{From: day(1), Until: day(3), Stated: true}, day(2), rag.StatusCurrent},
		{"from the first instant on", rag.Validity{From: day(1), Stated: true}, day(1), rag.StatusCurrent},
		{"not yet", rag.Validity{From: day(1), Stated: true}, day(1).Add(-1), rag.StatusExpired},
		{"up to the last instant", rag.Validity{Until: day(3), Stated: true}, day(3).Add(-1), rag.StatusCurrent},
		{"no longer", rag.Validity{Until: day(3), Stated: true}, day(3), rag.StatusExpired},
		{"over, and nothing stated", rag.Validity{Until: day(3)}, day(4), rag.StatusExpired},
	} {
		if got := tt.v.Status(tt.at); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// policy marks documents, and says that they hold until a day.
type policy struct{ version, until string }

func (p policy) Fingerprint() string { return p.version }

func (p policy) Apply(m rag.Meta) (rag.Meta, rag.Validity, []rag.Warning) {
	m["marked"] = p.version
	end, ok := rag.EndInstant(p.until, time.UTC)
	return m, rag.Validity{Until: end, Stated: ok}, []rag.Warning{{Message: "a remark"}}
}

func TestSourceCarriesTitleAndPolicy(t *testing.T) {
	f := newFixture(t)
	text := []byte("---\nteam: ovens\n---\n# From the file\n\nThe fee is 98.")
	ingest := func(title string, p rag.MetaPolicy, m rag.Meta) *rag.IngestReport {
		t.Helper()
		set := rag.Sources{All: func(yield func(rag.Source, error) bool) {
			for src := range rag.Bytes("mem:fee.md", text).All {
				src.Title, src.Policy, src.Meta = title, p, m
				yield(src, nil)
			}
		}}
		rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{set}})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	first := ingest("Fees", policy{"v1", "2026-12-31"}, rag.Meta{"year": 2026, "language": "de"})
	if diff := cmp.Diff([]rag.SourceNote{{URI: "mem:fee.md", Stage: rag.StageLoad, Message: "a remark"}}, first.Warnings); diff != "" {
		t.Error(diff)
	}
	entry, err := f.Entry(t.Context(), "", "mem:fee.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := (rag.Meta{"team": "ovens", "year": 2026.0, "marked": "v1", "language": "de"}); entry.Title != "Fees" || entry.Language != "de" || !cmp.Equal(entry.Meta, want) {
		t.Errorf("got %q %q %v", entry.Title, entry.Language, entry.Meta)
	}
	ids := f.chunkIDs()

	if again := ingest("Fees", policy{"v1", "2026-12-31"}, rag.Meta{"year": 2026, "language": "de"}); again.Unchanged != 1 {
		t.Errorf("nothing changed: %+v", again)
	}
	// Other rules: new metadata on the same chunks, and nothing is embedded.
	changed := ingest("Fees", policy{"v2", "2026-06-30"}, rag.Meta{"year": 2026, "language": "de"})
	if changed.Updated != 1 || changed.Embedded != 0 || changed.Chunks.Reused != len(ids) || !cmp.Equal(ids, f.chunkIDs()) {
		t.Errorf("another policy: %+v", changed)
	}
	july := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	if res := f.search(rag.Query{Text: "fee", AsOf: july, Mode: rag.Sparse}); len(res.Hits) != 0 {
		t.Errorf("an expired text is found: %+v", res.Hits)
	}
	if res := f.search(rag.Query{Text: "fee", AsOf: july, Expired: true, Filter: rag.Eq("marked", "v2")}); len(res.Hits) != 1 || res.Hits[0].Status != rag.StatusExpired {
		t.Errorf("expired texts asked for: %+v", res.Hits)
	}
	counts, err := f.Statuses(t.Context(), "", july)
	if want := (rag.StatusCounts{Expired: 1}); err != nil || counts != want {
		t.Errorf("counts %+v, %v", counts, err)
	}
	if last := ingest("", nil, nil); last.Updated != 1 {
		t.Errorf("without policy: %+v", last)
	}
}

// Days of zones with summer time, and of some where a day does not begin at 0:00.
func TestDaysOfZonesWithSummerTime(t *testing.T) {
	for _, tt := range []struct{ zone, day, first, end string }{
		{"Asia/Shanghai", "2026-03-01", "2026-02-28T16:00:00Z", "2026-03-01T16:00:00Z"},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // 23 hours
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // 25 hours
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z"}, // half an hour
		{"America/Santiago", "2026-09-05", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"},    // the next day begins at 1:00
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z"}, // 23:00 comes twice
		{"Africa/Cairo", "2026-04-23", "2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z"},     // the next day begins at 1:00
		{"Africa/Cairo", "2026-10-29", "2026-10-28T21:00:00Z", "2026-10-29T22:00:00Z"},     // 23:00 comes twice
		{"Atlantic/Azores", "2026-03-28", "2026-03-28T01:00:00Z", "2026-03-29T01:00:00Z"},  // the next day begins at 1:00
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},   // 0:00 comes twice
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},     // the 30th was left out
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Skipf("this machine does not know the zone: %v", err)
		}
		first, _ := rag.FirstInstant(tt.day, zone)
		end, _ := rag.EndInstant(tt.day, zone)
		if got := first.Format(time.RFC3339); got != tt.first {
			t.Errorf("%s in %s begins at %s, want %s", tt.day, tt.zone, got, tt.first)
		}
		if got := end.Format(time.RFC3339); got != tt.end {
			t.Errorf("%s in %s ends at %s, want %s", tt.day, tt.zone, got, tt.end)
		}
		v := rag.Validity{From: first, Until: end, Stated: true}
		for at, want := range map[time.Time]string{
			first.Add(-time.Second): rag.StatusExpired, first: rag.StatusCurrent, end.Add(-time.Second): rag.StatusCurrent, end: rag.StatusExpired,
		} {
			if got := v.Status(at); got != want {
				t.Errorf("%s in %s at %s: %s, want %s", tt.day, tt.zone, at.In(zone), got, want)
			}
		}
	}
}
