module github.com/seed-d8745b77/rag/vectorstore/coderhnsw

go 1.26.0

// Released versions require released versions of it.
replace github.com/seed-d8745b77/rag => ../..

require (
	github.com/coder/hnsw v0.6.1
	github.com/seed-d8745b77/rag v0.0.0
)

require (
	github.com/chewxy/math32 v1.10.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/renameio v1.0.1 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	github.com/viterin/vek v0.4.2 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
