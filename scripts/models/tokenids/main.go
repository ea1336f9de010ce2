// Command tokenids prints the tokens of texts, for the comparison with another tokenizer. It reads JSON objects from
// standard input, one a line, {"text": base64, "pair": base64, "limit": n}, and writes one for each,
// {"ids", "types", "cut", "spans"}: with "pair" the ids of both texts joined, and their types; otherwise the ids of one
// text, and where its tokens stand ("spans", without special tokens and uncut). A limit of 0 is none.
//
//	go run ./scripts/models/tokenids MODEL_DIR < requests
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag/internal/tokenize"
)

type request struct {
	Text  []byte  `json:"text"`
	Pair  *[]byte `json:"pair"`
	Limit int     `json:"limit"`
}

type answer struct {
	IDs   []int32  `json:"ids"`
	Types []int32  `json:"types,omitempty"`
	Cut   bool     `json:"cut"`
	Spans [][2]int `json:"spans,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tokenids MODEL_DIR < requests")
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
	tokenizer, err := tokenize.Parse(file)
	if err != nil {
		return err
	}
	requests := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return out.Flush()
		} else if err != nil {
			return err
		}
		if err := answers.Encode(tokens(tokenizer, r)); err != nil {
			return err
		}
	}
}

func tokens(t tokenize.Tokenizer, r request) (a answer) {
	if r.Limit == 0 {
		r.Limit = math.MaxInt
	}
	if r.Pair != nil {
		a.IDs, a.Types, a.Cut = t.EncodePair(string(r.Text), string(*r.Pair), r.Limit)
		return a
	}
	a.IDs, a.Cut = t.Encode(string(r.Text), r.Limit)
	for _, token := range t.Tokens(string(r.Text)) {
		a.Spans = append(a.Spans, [2]int{token.Start, token.End})
	}
	return a
}
