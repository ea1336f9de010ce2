module github.com/seed-d8745b77/rag/sparse/gse

go 1.26.0

// A released version requires a released version of it.
replace github.com/seed-d8745b77/rag => ../..

require (
	github.com/go-ego/gse v0.80.3
	github.com/seed-d8745b77/rag v0.0.0
)

require (
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/vcaesar/cedar v0.20.2 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
