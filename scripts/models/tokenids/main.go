// Command tokenids prints the token ids of texts, for the comparison with another tokenizer: it reads base64 texts
// from standard input, one a line, and writes a JSON array of ids for each.
//
//	go run ./scripts/models/tokenids MODEL_DIR < texts
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// maxLine is the longest line read, in bytes.
const maxLine = 64 << 20

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tokenids MODEL_DIR < texts")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tokenids:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	file, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return err
	}
	vocabulary, err := tokenize.ParseVocabulary(file)
	if err != nil {
		return err
	}
	wp, err := tokenize.NewWordPiece(vocabulary)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	for lines.Scan() {
		text, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			return err
		}
		ids, _ := wp.Encode(string(text), math.MaxInt)
		if err := enc.Encode(ids); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}
