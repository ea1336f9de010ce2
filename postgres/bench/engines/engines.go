package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/postgres/internal/pgserver"
	"github.com/seed-d8745b77/rag/sparse"
	"github.com/seed-d8745b77/rag/vectorstore"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

const collection = "engines"

// engine is one that is open, and what was measured of it.
type engine struct {
	name    string
	vectors rag.VectorStore
	words   rag.SparseIndex // nil: it has none
	folder  string          // of its data
	pids    []int           // first processes of its servers; nil: there are none
	tables  string          // DSN of a database whose tables are to be weighed; "": there is none
	close   func() error

	vectorTime, wordTime stopwatch
	disk, emptyDisk      int64 // bytes
	memory, emptyMemory  memory
	relations            []relation
}

// opens are the engines by name. One that is not installed is ErrNotFound.
var opens = map[string]func(ctx context.Context, dir string) (*engine, error){
	"embedded": openEmbedded,
	"postgres": func(ctx context.Context, dir string) (*engine, error) {
		return openPostgres(ctx, postgres.VectorConfig{})
	},
	"postgres-halfvec": func(ctx context.Context, dir string) (*engine, error) {
		return openPostgres(ctx, postgres.VectorConfig{HalfVec: true})
	},
	"chroma":    openChroma,
	"weaviate":  func(ctx context.Context, dir string) (*engine, error) { return openWeaviate(ctx, dir, 1) },
	"weaviate3": func(ctx context.Context, dir string) (*engine, error) { return openWeaviate(ctx, dir, 3) },
}

func openEmbedded(_ context.Context, dir string) (*engine, error) {
	v, err := vectorstore.OpenHNSW(dir, vectorstore.HNSWConfig{})
	if err != nil {
		return nil, err
	}
	x, err := sparse.OpenBM25(dir, sparse.BM25Config{})
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return (&engine{vectors: v, words: x, folder: dir, close: func() error { return errors.Join(v.Close(), x.Close()) }}).empty()
}

// openPostgres starts a server with its own defaults, durable as they are.
func openPostgres(ctx context.Context, c postgres.VectorConfig) (*engine, error) {
	bin := pgserver.Find()
	if bin == "" {
		return nil, fmt.Errorf("PostgreSQL is not installed (scripts/install-postgres): %w", rag.ErrNotFound)
	}
	server, err := pgserver.Start(bin)
	if err != nil {
		return nil, err
	}
	c.DSN = server.DSN()
	v, err := postgres.OpenVectors(ctx, c)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	x, err := postgres.OpenSparse(ctx, postgres.SparseConfig{Config: c.Config})
	if err != nil {
		return nil, errors.Join(err, v.Close(), server.Close())
	}
	return (&engine{vectors: v, words: x, folder: server.Data(), pids: []int{server.PID()}, tables: server.DSN(),
		close: func() error { return errors.Join(v.Close(), x.Close(), server.Close()) }}).empty()
}

// program returns one in the user's cache, where the scripts put servers.
func program(name, script string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "rag", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not installed (scripts/%s): %w", name, script, rag.ErrNotFound)
	}
	return path, nil
}

func openChroma(ctx context.Context, dir string) (*engine, error) {
	path, err := program("chroma-1.5.9/bin/chroma", "install-chroma")
	if err != nil {
		return nil, err
	}
	port, err := freePorts(ctx, 1)
	if err != nil {
		return nil, err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	server, err := launch(exec.CommandContext(ctx, path, "run", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--path", dir), filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	if err := server.await(ctx, answers(url+"/api/v2/heartbeat")); err != nil {
		return nil, errors.Join(err, server.close())
	}
	v, err := chroma.New(chroma.Config{URL: url})
	if err != nil {
		return nil, errors.Join(err, server.close())
	}
	return (&engine{vectors: v, folder: dir, pids: []int{server.pid()}, close: server.close}).empty()
}

// openWeaviate starts nodes as scripts/weaviate-cluster does. Each keeps every record.
func openWeaviate(ctx context.Context, dir string, nodes int) (_ *engine, err error) {
	path, err := program("weaviate-v1.35.2", "weaviate-cluster true")
	if err != nil {
		return nil, err
	}
	e := &engine{folder: dir}
	var servers []*server
	e.close = func() error {
		var err error
		for _, s := range servers {
			err = errors.Join(err, s.close())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	members, err := weaviateNodes(ctx, path, dir, nodes)
	if err != nil {
		return nil, err
	}
	for i, n := range members {
		s, err := launch(n.cmd, filepath.Join(dir, strconv.Itoa(i)+".log"))
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
		e.pids = append(e.pids, s.pid())
		if err := s.await(ctx, listens(n.gossip)); err != nil { // to join one that does not listen is fatal
			return nil, err
		}
	}
	for i, n := range members {
		if err := servers[i].await(ctx, answers(n.url+"/v1/.well-known/ready")); err != nil {
			return nil, err
		}
	}
	c := weaviate.Config{URL: members[0].url, Replicas: nodes, MaxResults: weaviateMost}
	v, err := weaviate.NewVectors(c)
	if err != nil {
		return nil, err
	}
	x, err := weaviate.NewTexts(c)
	if err != nil {
		return nil, err
	}
	e.vectors, e.words = v, x
	return e.empty()
}

// weaviateMost is the server's QUERY_MAXIMUM_RESULTS.
const weaviateMost = 20_000

// node is one of a cluster that is to be started.
type node struct {
	cmd    *exec.Cmd
	url    string
	gossip int // port by which others join it
}

// Ports of a node, in a row: the servers reckon that one stands behind the other.
const (
	gossipPort = iota
	dataPort
	raftPort
	callsPort // of Raft
	httpPort
	grpcPort
	portsOfNode
)

// weaviateNodes prepares the nodes of a cluster. The settings are those of scripts/weaviate-cluster, which gives the reasons.
func weaviateNodes(ctx context.Context, path, dir string, n int) (nodes []node, err error) {
	ports := make([]int, n)
	var voters []string
	for i := range ports {
		if ports[i], err = freePorts(ctx, portsOfNode); err != nil {
			return nil, err
		}
		voters = append(voters, fmt.Sprintf("node%d:%d", i, ports[i]+raftPort))
	}
	join := "" // the first node joins nobody
	for i, first := range ports {
		port := func(of int) string { return strconv.Itoa(first + of) }
		data := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(data, 0o700); err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, path, "--scheme", "http", "--host", "127.0.0.1", "--port", port(httpPort), "--read-timeout=60s", "--write-timeout=60s")
		cmd.Dir = data
		cmd.Env = []string{
			"HOME=" + data, "PERSISTENCE_DATA_PATH=" + data, "CLUSTER_HOSTNAME=node" + strconv.Itoa(i), "CLUSTER_IN_LOCALHOST=true",
			"CLUSTER_BIND_ADDR=127.0.0.1", "CLUSTER_JOIN=" + join, "CLUSTER_GOSSIP_BIND_PORT=" + port(gossipPort), "CLUSTER_DATA_BIND_PORT=" + port(dataPort),
			"RAFT_PORT=" + port(raftPort), "RAFT_INTERNAL_RPC_PORT=" + port(callsPort), "RAFT_JOIN=" + strings.Join(voters, ","), "RAFT_BOOTSTRAP_EXPECT=" + strconv.Itoa(n), "GRPC_PORT=" + port(grpcPort),
			"QUERY_MAXIMUM_RESULTS=" + strconv.Itoa(weaviateMost), "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "AUTOSCHEMA_ENABLED=false",
			"DEFAULT_VECTORIZER_MODULE=none", "ENABLE_MODULES=", "API_BASED_MODULES_DISABLED=true", "DISABLE_TELEMETRY=true", "GO_PROFILING_DISABLE=true",
			"PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS=1", "LOG_LEVEL=warning",
		}
		nodes = append(nodes, node{cmd, "http://127.0.0.1:" + port(httpPort), first + gossipPort})
		join = "127.0.0.1:" + strconv.Itoa(ports[0]+gossipPort)
	}
	return nodes, nil
}
