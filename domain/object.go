package domain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// pair is one key of a JSON object.
type pair struct {
	key    string
	column int // 1-based, in bytes, where the key begins
	value  any // as encoding/json decodes it
	twice  bool
}

// badObject says why a text is no JSON object.
type badObject struct {
	column  int // 1-based, in bytes
	message string
}

// parseObject reads a text that is one JSON object. encoding/json alone would keep the last of two equal keys and say
// nothing.
func parseObject(text []byte) ([]pair, *badObject) {
	dec := json.NewDecoder(bytes.NewReader(text))
	column := func() int { return int(dec.InputOffset()) + 1 }
	fail := func(err error) *badObject {
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return &badObject{len(text) + 1, "no whole JSON object: the line ends inside of it"}
		case errors.As(err, &syntax):
			at := column()
			at += len(text[at-1:]) - len(bytes.TrimLeft(text[at-1:], " \t"))
			return &badObject{at, "no JSON: " + strings.TrimPrefix(err.Error(), "json: ")}
		}
		return &badObject{column(), "no JSON: " + err.Error()}
	}
	open, err := dec.Token()
	if err != nil {
		return nil, fail(err)
	}
	if open != json.Delim('{') {
		return nil, &badObject{1, "want a JSON object, one a line"}
	}
	var pairs []pair
	seen := map[string]bool{}
	for dec.More() {
		at := column()
		at += bytes.IndexByte(text[at-1:], '"') // behind the comma and blanks
		key, err := dec.Token()
		if err != nil {
			return nil, fail(err)
		}
		name, _ := key.(string) // Token gives nothing else for a key
		p := pair{key: name, column: at, twice: seen[name]}
		seen[name] = true
		if err := dec.Decode(&p.value); err != nil {
			return nil, fail(err)
		}
		pairs = append(pairs, p)
	}
	if _, err := dec.Token(); err != nil {
		return nil, fail(err)
	}
	if rest := text[dec.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		return nil, &badObject{column(), "something follows the object: one document a line"}
	}
	return pairs, nil
}
