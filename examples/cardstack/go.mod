module github.com/seed-d8745b77/rag/examples/cardstack

go 1.26.0

// Released versions require released versions of these.
replace (
	github.com/seed-d8745b77/rag => ../..
	github.com/seed-d8745b77/rag/embed/hugot => ../../embed/hugot
	github.com/seed-d8745b77/rag/internal/onnx => ../../internal/onnx
	github.com/seed-d8745b77/rag/loader/nguyendocx => ../../loader/nguyendocx
	github.com/seed-d8745b77/rag/loader/unipdf => ../../loader/unipdf
	github.com/seed-d8745b77/rag/rerank/hugot => ../../rerank/hugot
	github.com/seed-d8745b77/rag/vectorstore/coderhnsw => ../../vectorstore/coderhnsw
)

require (
	github.com/seed-d8745b77/rag v0.0.0
	github.com/seed-d8745b77/rag/embed/hugot v0.0.0
	github.com/seed-d8745b77/rag/internal/onnx v0.0.0
	github.com/seed-d8745b77/rag/loader/nguyendocx v0.0.0
	github.com/seed-d8745b77/rag/loader/unipdf v0.0.0
	github.com/seed-d8745b77/rag/rerank/hugot v0.0.0
	github.com/seed-d8745b77/rag/vectorstore/coderhnsw v0.0.0
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/chewxy/math32 v1.11.1 // indirect
	github.com/coder/hnsw v0.6.1 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/daulet/tokenizers v1.24.0 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/gabriel-vasile/mimetype v1.4.3 // indirect
	github.com/go-errors/errors v1.5.1 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/gomlx/exceptions v0.0.3 // indirect
	github.com/gomlx/gomlx v0.26.0 // indirect
	github.com/gomlx/onnx-gomlx v0.3.4 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/renameio v1.0.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/knights-analytics/hugot v0.6.1 // indirect
	github.com/knights-analytics/ortgenai v0.0.1 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/nguyenthenguyen/docx v0.0.0-20230621112118-9c8e795a11db // indirect
	github.com/patrickmn/go-cache v2.1.0+incompatible // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/schollz/progressbar/v2 v2.15.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/stretchr/testify v1.11.1 // indirect
	github.com/sugarme/regexpset v0.0.0-20200920021344-4d4ec8eaf93c // indirect
	github.com/sugarme/tokenizer v0.3.0 // indirect
	github.com/unidoc/pkcs7 v0.2.0 // indirect
	github.com/unidoc/timestamp v0.0.0-20200412005513-91597fd3793a // indirect
	github.com/unidoc/unipdf/v3 v3.57.0 // indirect
	github.com/unidoc/unitype v0.4.0 // indirect
	github.com/viant/afs v1.29.0 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	github.com/viterin/vek v0.4.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/yalue/onnxruntime_go v1.25.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/exp v0.0.0-20251219203646-944ab1f22d93 // indirect
	golang.org/x/image v0.34.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/term v0.48.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/xerrors v0.0.0-20231012003039-104605ab7028 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/klog/v2 v2.130.1 // indirect
)
