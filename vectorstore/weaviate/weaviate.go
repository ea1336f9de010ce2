// Package weaviate keeps vectors and words in a cluster of Weaviate, which shards and replicates them. It speaks Weaviate's
// REST and GraphQL over Go's library and needs version 1.33 or later, the first with the operator Not.
//
//	c := weaviate.Config{URL: "http://a:8080", Others: []string{"http://b:8080", "http://c:8080"}, Replicas: 3}
//	v, err := weaviate.NewVectors(c)
//	x, err := weaviate.NewTexts(c)
//	eng, err := rag.Open(dir, rag.WithVectorStore(v), rag.WithSparseIndex(x))
package weaviate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// Defaults of [Config].
const (
	DefaultURL            = "http://127.0.0.1:8080"
	DefaultPrefix         = "Rag"
	DefaultConsistency    = "QUORUM"
	DefaultMaxResults     = 10_000 // QUERY_MAXIMUM_RESULTS of a server that is not told otherwise
	DefaultEf             = 128    // with which 2,000 vectors of 384 numbers gave a recall of 1.000
	DefaultEfConstruction = 200
	DefaultM              = 32
	DefaultK1             = 1.2
	DefaultB              = 0.75
	DefaultExactUpTo      = 10_000 // above, counting a question's words takes longer than the search: the server reads each record that has one
)

// Config holds the settings of [NewVectors] and [NewTexts]. Replicas, Shards, Ef, EfConstruction, M, K1 and B hold for
// collections that are made from now on.
type Config struct {
	URL         string            `json:"url"`                                         // address of a node; "": DefaultURL
	Others      []string          `json:"others"`                                      // addresses of further nodes, asked in turn where one fails; with fewer nodes than Replicas here, a lost node can stop searches
	APIKey      string            `json:"api_key"`                                     // sent as a bearer's; "": none is
	Headers     map[string]string `json:"headers"`                                     // sent with each request
	Prefix      string            `json:"prefix"`                                      // with which the names of classes begin, a capital letter, then letters and digits; "": DefaultPrefix
	TimeoutMS   int               `json:"timeout_ms,omitzero" range:"[1,86400000]"`    // of one try; 0: 30,000
	Tries       int               `json:"tries" range:"[0,1000]"`                      // of a request; 0: 3, and one for each of Others
	Replicas    int               `json:"replicas,omitzero" range:"[1,1000]"`          // nodes that keep each record; 0: 1
	Shards      int               `json:"shards,omitzero" range:"[1,10000]"`           // parts of a collection; 0: 1
	Consistency string            `json:"consistency"`                                 // replicas that must have what is written: ONE, QUORUM or ALL; "": DefaultConsistency. While all live, all have it
	MaxResults  int               `json:"max_results,omitzero" range:"[1,1000000000]"` // most records of a reply, QUERY_MAXIMUM_RESULTS of the servers; 0: DefaultMaxResults

	Ef             int `json:"ef,omitzero" range:"[1,1000000]"`              // of vectors: width of a search; 0: DefaultEf
	EfConstruction int `json:"ef_construction,omitzero" range:"[1,1000000]"` // likewise while the graph is made; 0: DefaultEfConstruction
	M              int `json:"m,omitzero" range:"[1,10000]"`                 // links of a vector; 0: DefaultM

	K1        float64  `json:"k1,omitzero" range:"(0,1000000]"`                    // of words: how much repetition counts; 0: DefaultK1
	B         float64  `json:"b,omitzero" range:"(0,1]"`                           // how much long texts are marked down, 0 to 1; 0: DefaultB
	ExactUpTo int      `json:"exact_up_to,omitzero" range:"[-1,1000000000] but 0"` // records of a collection up to which words are counted for the scores, so that they are the embedded index's; 0: DefaultExactUpTo; below 0: the server's scores are taken
	Languages []string `json:"languages"`                                          // in which questions are stemmed beside their own, BCP 47; nil: English
}

var consistencies = []string{"ONE", DefaultConsistency, "ALL"}

var prefixes = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,19}$`)

// open checks the settings and fills in the defaults. kind tells the classes of vectors from those of words.
func open(c Config, kind kind) (*classes, error) {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("weaviate: %s: %w", fmt.Sprintf(format, a...), rag.ErrInvalid)
	}
	c.Prefix, c.Consistency = cmp.Or(c.Prefix, DefaultPrefix), cmp.Or(c.Consistency, DefaultConsistency)
	c.Replicas, c.Shards, c.MaxResults = cmp.Or(c.Replicas, 1), cmp.Or(c.Shards, 1), cmp.Or(c.MaxResults, DefaultMaxResults)
	c.Ef, c.EfConstruction, c.M = cmp.Or(c.Ef, DefaultEf), cmp.Or(c.EfConstruction, DefaultEfConstruction), cmp.Or(c.M, DefaultM)
	c.K1, c.B, c.ExactUpTo = cmp.Or(c.K1, DefaultK1), cmp.Or(c.B, DefaultB), cmp.Or(c.ExactUpTo, DefaultExactUpTo)
	if c.Languages == nil {
		c.Languages = []string{"en"}
	}
	switch {
	case !prefixes.MatchString(c.Prefix):
		return nil, bad("prefix must be a capital letter and up to 19 letters and digits")
	case !slices.Contains(consistencies, c.Consistency):
		return nil, rag.UnknownName("consistency", c.Consistency, consistencies)
	case c.Replicas < 0 || c.Shards < 0 || c.MaxResults < 0 || c.Ef < 0 || c.EfConstruction < 0 || c.M < 0:
		return nil, bad("replicas, shards, max_results, ef, ef_construction and m must not be below 0")
	case !(c.K1 > 0) || !(c.B > 0 && c.B <= 1):
		return nil, bad("k1 must be above 0 and b from 0 to 1")
	}
	timeout := time.Duration(c.TimeoutMS) * time.Millisecond
	service, err := remote.NewService(remote.Settings{
		Name: "weaviate", URL: cmp.Or(c.URL, DefaultURL), Others: c.Others, KeyHeader: "Authorization", Key: c.APIKey,
		Headers: c.Headers, Timeout: timeout, Tries: c.Tries,
	})
	if err != nil {
		return nil, err
	}
	return &classes{service: service, once: service.Within(timeout, 1), brisk: service.Within(leaderAnswers, 1), config: c, kind: kind, known: map[string]class{}}, nil
}
