package vectorstore

import (
	"cmp"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// HNSWConfig sets up an [HNSW].
type HNSWConfig struct {
	M              int    `json:"m,omitzero" range:"[4,64]"`                   // links of a node, twice as many on the lowest layer: more find more, and take memory; 0: 16; 4 to 64
	EfConstruction int    `json:"ef_construction,omitzero" range:"[4,4096]"`   // candidates for the links of a new node: more build a better graph, more slowly; 0: 200; m to 4096
	Ef             int    `json:"ef,omitzero" range:"[1,4096]"`                // width of a search, at least as wide as K: more finds more, more slowly; 0: 64; 1 to 4096
	Quantization   string `json:"quantization"`                                // how vectors lie in memory: "int8" in eight bits a value, the best rescored exactly from the file; "none"; "": "int8"
	ExactBelow     int    `json:"exact_below,omitzero" range:"[1,1000000000]"` // records below which a collection has no graph and all are compared; with a graph, so are those that a filter matches as long as they are fewer than the root of exact_below times all; 0: 20000; at least 1
	Workers        int    `json:"workers" range:"[0,4096]"`                    // goroutines that build the graph, or search without it; 0: GOMAXPROCS; at least 0
	Seed           uint64 `json:"seed"`                                        // of the graph's layers: the same writes build the same graph
}

// Defaults of [HNSWConfig]; docs/adr/0013-vector-stores.md has the measurements.
const (
	defaultM              = 16
	defaultEfConstruction = 200
	defaultEf             = 64
	defaultExactBelow     = 20_000
	maxEf                 = 4096
)

// Names of [HNSWConfig.Quantization].
const (
	QuantizationNone = "none"
	QuantizationInt8 = "int8"
)

// HNSW finds the nearest vectors by a graph (a hierarchical navigable small world) where a collection is large, and
// exactly where it is small or a filter leaves little of it. Records lie in <dir>/rag.db, the same as those of [Flat]: one
// opens what the other wrote. Graph and vectors in memory are a copy, kept from run to run in <dir>/hnsw; it may be
// deleted at any time. It is safe for concurrent use, also several stores on one directory.
type HNSW struct{ store }

var (
	_ rag.VectorStore    = (*HNSW)(nil)
	_ rag.IDLister       = (*HNSW)(nil)
	_ rag.Dropper        = (*HNSW)(nil)
	_ rag.VectorReader   = (*HNSW)(nil)
	_ rag.Fingerprinter  = (*HNSW)(nil)
	_ rag.RecallMeasurer = (*HNSW)(nil)
)

// OpenHNSW opens the vectors in a directory, and makes the directory where it is missing; dir "" keeps them in memory
// only, and then never in eight bits. Errors are those of [OpenFlat], and ErrInvalid for a setting out of its range.
func OpenHNSW(dir string, c HNSWConfig) (*HNSW, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	h := &HNSW{store{kind: slab.Float32, tuning: &tuning{
		graph: hnsw.Config{M: c.M, EfConstruction: c.EfConstruction, Seed: c.Seed, Workers: c.Workers},
		ef:    c.Ef, exactBelow: c.ExactBelow,
	}}}
	if c.Quantization == QuantizationInt8 && dir != "" {
		h.kind = slab.Int8
	}
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if err := h.open(dir, c.Workers); err != nil {
		return nil, err
	}
	h.sweepSnapshots()
	return h, nil
}

// fill puts in the defaults and checks the ranges.
func (c *HNSWConfig) fill() error {
	c.M = cmp.Or(c.M, defaultM) // the range of ef_construction begins there
	for _, n := range []struct {
		key              string
		value            *int
		missing, low, up int
	}{
		{"m", &c.M, 0, 4, 64},
		{"ef_construction", &c.EfConstruction, defaultEfConstruction, c.M, maxEf},
		{"ef", &c.Ef, defaultEf, 1, maxEf},
		{"exact_below", &c.ExactBelow, defaultExactBelow, 1, slab.MaxRows},
		{"workers", &c.Workers, 0, 0, maxEf},
	} {
		if *n.value == 0 {
			*n.value = n.missing
		}
		if *n.value < n.low || *n.value > n.up {
			return fmt.Errorf("hnsw: %s is %d, it must lie between %d and %d: %w", n.key, *n.value, n.low, n.up, rag.ErrInvalid)
		}
	}
	switch c.Quantization {
	case "":
		c.Quantization = QuantizationInt8
	case QuantizationInt8, QuantizationNone:
	default:
		return rag.UnknownName("quantization", c.Quantization, []string{QuantizationInt8, QuantizationNone})
	}
	return nil
}

// Fingerprint names the layout of the stored vectors.
func (h *HNSW) Fingerprint() string { return fmt.Sprintf("hnsw/%d", layoutVersion) }
