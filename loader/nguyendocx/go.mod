module github.com/seed-d8745b77/rag/loader/nguyendocx

go 1.26.0

// Released versions require released versions of it.
replace github.com/seed-d8745b77/rag => ../..

require (
	github.com/google/go-cmp v0.7.0
	github.com/nguyenthenguyen/docx v0.0.0-20230621112118-9c8e795a11db
	github.com/seed-d8745b77/rag v0.0.0
)

require github.com/rivo/uniseg v0.4.7 // indirect
