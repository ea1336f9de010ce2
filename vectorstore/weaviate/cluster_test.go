package weaviate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

// cluster are the nodes that `make cluster` starts.
type cluster struct {
	nodes  []string
	script string // does things to them
}

// onCluster returns the cluster; without one the test is skipped.
func onCluster(t *testing.T) *cluster {
	t.Helper()
	nodes := os.Getenv("RAG_WEAVIATE")
	if nodes == "" {
		t.Skip("skipped: no cluster of Weaviate at $RAG_WEAVIATE; make cluster starts one")
	}
	return &cluster{strings.Split(nodes, ","), os.Getenv("RAG_WEAVIATE_CLUSTER")}
}

// thorough tells whether tests take their time: make cluster with RAG_CLUSTER_LONG=1.
func thorough() bool { return os.Getenv("RAG_CLUSTER_LONG") != "" }

// at gives settings by which what is kept under a key is found at every opening; the given node is asked first.
func (c *cluster) at(key string, first int) weaviate.Config {
	sum := sha256.Sum256([]byte(key))
	nodes := append(append([]string(nil), c.nodes[first:]...), c.nodes[:first]...)
	return weaviate.Config{URL: nodes[0], Others: nodes[1:], Prefix: "T" + hex.EncodeToString(sum[:8]), Replicas: 3, MaxResults: 20_000}
}

// do has the script do something.
func (c *cluster) do(t *testing.T, what ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.script, what...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", what, err, out)
	}
	return strings.TrimSpace(string(out))
}

// kill ends a node at once; however the test ends, the node runs afterwards. start starts it again.
func (c *cluster) kill(t *testing.T, node int) (start func()) {
	t.Helper()
	c.do(t, "--kill", strconv.Itoa(node))
	dead := true
	start = func() {
		t.Helper()
		if !dead {
			return
		}
		dead = false
		if out, err := exec.Command(c.script, "--start", strconv.Itoa(node)).CombinedOutput(); err != nil { // also where the test is over
			t.Errorf("start node %d: %v: %s", node, err, out)
		}
	}
	t.Cleanup(start)
	return start
}

// await waits until nothing is missing. A busy machine may take its time.
func await(t *testing.T, missing func() string) (took time.Duration) {
	t.Helper()
	start, each := time.Now(), time.NewTicker(100*time.Millisecond)
	defer each.Stop()
	for {
		what := missing()
		if took = time.Since(start); what == "" {
			return took
		}
		if took > 2*time.Minute {
			t.Fatalf("after %.0f s: %s", took.Seconds(), what)
		}
		<-each.C
	}
}

// unhurried leaves sentences of a suite, whose cases take a minute each on a busy machine, to the thorough run.
func unhurried(sentences ...string) (list []ragtest.Trait) {
	if thorough() {
		return nil
	}
	for _, s := range sentences {
		list = append(list, ragtest.Except(s, "skipped: it takes long; RAG_CLUSTER_LONG=1 make cluster runs it"))
	}
	return list
}

func TestVectorsOnACluster(t *testing.T) {
	c := onCluster(t)
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return vectors(t, c.at(dir, 0)) },
		append(unhurried("the nearest are found under filters that select from 50 % to 0.01 %"), ragtest.Approximate(0.97))...)
}

// Every filter is judged on the cluster by the suite of vectors, whose filters are written in the same way.
func TestTextsOnACluster(t *testing.T) {
	c := onCluster(t)
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return texts(t, c.at(dir, 0)) },
		unhurried("a filtered search gives exactly min(K, matches), whatever the selectivity", "every filter operator selects as Filter.Match does")...)
}
