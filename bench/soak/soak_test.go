package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

// A short run does all there is to do and finds nothing wrong. What grows shows in long ones only.
func TestSoak(t *testing.T) {
	o := options{length: 2 * time.Second, papers: 12, writers: 2, readers: 4, samples: 2, seed: 1}
	res, err := soak(t.Context(), o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.samples) != o.samples || res.checked == 0 || res.counts["reindex"] != 1 || res.counts["backup"] != 1 {
		t.Errorf("%d measurements, %d parts checked, done: %v", len(res.samples), res.checked, res.counts)
	}
	if m := res.samples[1]; m[goroutines] == 0 || m[heap] == 0 || m[database] == 0 || m[traces] == 0 {
		t.Errorf("measured %v", m)
	}
	if text := res.report(); !strings.Contains(text, "| growth in the second half |") {
		t.Error(text)
	}
}

func TestTheModelFinds(t *testing.T) {
	m := newModel(2)
	p := m.papers[1]
	p.settle(p.begin(false))
	p.settle(p.begin(true)) // version 2 is that it is deleted
	p.settle(p.begin(false))
	p.begin(false) // version 4 is under way
	since := m.since()[1]
	third := p.text(3)
	if since != 3 {
		t.Fatalf("since %d", since)
	}
	half := third[:strings.LastIndex(third, "\n## Part")]
	for name, c := range map[string]struct {
		err  error
		want string // "": none
	}{
		"the version":           {p.whole(third, since), ""},
		"the next one":          {p.whole(p.text(4), since), ""},
		"a seen version before": {p.whole(p.text(1), 1), ""},
		"an old version":        {p.whole(p.text(1), since), "only 3 to 4 can be"},
		"one to come":           {p.whole(p.text(5), since), "only 3 to 4 can be"},
		"a deleted version":     {p.whole(p.text(2), 1), "in which it was deleted"},
		"half of it":            {p.whole(half, since), "parts of"},
		"a part twice":          {p.whole(third+third, since), "is not whole"},
		"another paper":         {p.whole(m.papers[0].text(3), since), "is not whole"},
		"nothing":               {p.whole("", since), "has no parts"},
		"missing":               {p.absent(since), "is missing"},
		"missing before":        {p.absent(1), ""},
		"never there":           {m.papers[0].absent(0), ""},
	} {
		if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, c.err, c.want)
		}
	}
	if n, err := m.check("… "+third, m.since()); err != nil || n != len(parts(third)) {
		t.Errorf("%d parts seen, %v", n, err)
	}
	if _, err := m.check(p.text(1), m.since()); err == nil {
		t.Error("an old version may be shown")
	}
}

func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"flat":         {[]float64{5, 5, 5, 5}, 0},
		"a line":       {[]float64{1, 3, 5, 7}, 6},
		"up and down":  {[]float64{1, 9, 9, 1}, 0},
		"less":         {[]float64{4, 3, 2}, -2},
		"one value":    {[]float64{4}, 0},
		"nothing":      {nil, 0},
		"a single one": {[]float64{2, 2, 8, 2, 2}, 0},
	} {
		if got := growth(c.values); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestWhatGrowsIsTold(t *testing.T) {
	flat := func() *result {
		r := &result{}
		for range 20 {
			r.samples = append(r.samples, measurement{goroutines: 20, descriptors: 30, heap: 20e6, resident: 90e6, database: 8e6, traces: 2e6, others: 1e6})
		}
		return r
	}
	if err := flat().judge(); err != nil {
		t.Error(err)
	}
	for i := range all {
		r := flat()
		for at := range r.samples {
			r.samples[at][i] *= 1 + float64(at)/10
		}
		err := r.judge()
		if told := err != nil && strings.Contains(err.Error(), all[i].name+" grew"); told != judged(i) {
			t.Errorf("%s: %v", all[i].name, err)
		}
	}
	r := flat()
	if r.after[descriptors] = left + 1; r.judge() == nil {
		t.Error("descriptors may be left open")
	}
}
