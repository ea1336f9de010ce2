module github.com/seed-d8745b77/rag/loader/unipdf

go 1.26.0

replace github.com/seed-d8745b77/rag => ../..

require (
	github.com/google/go-cmp v0.7.0
	github.com/seed-d8745b77/rag v0.0.0
	github.com/unidoc/unipdf/v3 v3.57.0
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/gabriel-vasile/mimetype v1.4.3 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/stretchr/testify v1.9.0 // indirect
	github.com/unidoc/pkcs7 v0.2.0 // indirect
	github.com/unidoc/timestamp v0.0.0-20200412005513-91597fd3793a // indirect
	github.com/unidoc/unitype v0.4.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/image v0.15.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/xerrors v0.0.0-20231012003039-104605ab7028 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
