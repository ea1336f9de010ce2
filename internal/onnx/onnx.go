// Package onnx runs transformer encoders that are stored as ONNX, through github.com/knights-analytics/hugot: on its
// backend in pure Go, or on ONNX Runtime in programs built with the tag ORT.
//
//	m, err := onnx.Open(onnx.Config{Dir: "models/bge-small-en"})
//	ids, _, err := m.Tokens().Encode("What does the contract say?", m.Window())
//	outputs, err := m.Run(ctx, []onnx.Sequence{{IDs: ids}})
//
// It uses hugot's model and tensors, not its pipelines. Those end the process where a tokenizer fails, drop the closing
// token of a long text, keep a compiled graph for each shape they meet, and leave what ONNX Runtime returns to nobody.
package onnx

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knights-analytics/hugot/backends"
)

// ErrUnsupported is wrapped by errors about models that are sound and cannot be run here.
var ErrUnsupported = errors.New("hugot cannot run it")

// Config says where the model is and how to run it.
type Config struct {
	Dir       string // folder with an ONNX file, tokenizer.json and, if the model has one, config.json
	File      string // name of the ONNX file in Dir; "": the only one, or model.onnx
	Output    string // the model's output to return; "": its first
	MaxTokens int    // longest sequence, special tokens included; 0: what config.json says, or 512
	Library   string // ONNX Runtime's shared library, a file or its folder; "": where the system looks. For builds with the tag ORT
	Threads   int    // of ONNX Runtime; 0: one for each core. For builds with the tag ORT
}

// Model is a model ready to run. It is safe for concurrent use; calls of Run wait for each other, since each keeps
// all processors busy.
type Model struct {
	backend  *backends.Model
	tokens   Tokenizer
	output   int // index among the model's outputs
	perToken bool
	width    int
	window   int
	segments int // kinds of token types it has; 0: it takes none
	digest   string
	turn     chan struct{} // holds a value while nobody runs; closed for good by Close
}

// Open reads the model and runs it once, which tells what it cannot do. A missing file wraps fs.ErrNotExist, a model
// that cannot be run ErrUnsupported. Closing it frees its memory.
func Open(c Config) (*Model, error) {
	name, err := modelFile(c)
	if err != nil {
		return nil, err
	}
	graph, err := os.ReadFile(filepath.Join(c.Dir, name))
	if err != nil {
		return nil, err
	}
	tokenizerJSON, err := os.ReadFile(filepath.Join(c.Dir, "tokenizer.json"))
	if err != nil {
		return nil, err
	}
	window, err := windowOf(c)
	if err != nil {
		return nil, err
	}
	tokens, kind, err := newTokenizer(tokenizerJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(c.Dir, "tokenizer.json"), err)
	}
	digest := sha256.New()
	digest.Write(graph)
	digest.Write(tokenizerJSON)
	digest.Write([]byte(kind))
	m := &Model{
		tokens: tokens,
		window: window,
		digest: hex.EncodeToString(digest.Sum(nil)),
		turn:   make(chan struct{}, 1),
	}
	m.turn <- struct{}{}
	if err := m.load(c, graph); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(c.Dir, name), err)
	}
	return m, nil
}

// load hands the graph to the backend and tries it.
func (m *Model) load(c Config, graph []byte) error {
	backend, err := newBackend(c, m.window, graph)
	if err != nil {
		return err
	}
	m.backend = backend
	err = m.chooseOutput(c.Output)
	if err == nil {
		err = m.chooseInputs()
	}
	if err == nil {
		err = m.try()
	}
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return nil
}

// modelFile returns the name of the ONNX file.
func modelFile(c Config) (string, error) {
	if c.File != "" {
		if !filepath.IsLocal(c.File) {
			return "", fmt.Errorf("file %q is not in the model's folder", c.File)
		}
		return c.File, nil
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".onnx") {
			names = append(names, e.Name())
		}
	}
	switch {
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", fmt.Errorf("no .onnx file in %s: %w", c.Dir, os.ErrNotExist)
	case slices.Contains(names, "model.onnx"):
		return "model.onnx", nil
	}
	return "", fmt.Errorf("%s holds %s: name the one to use", c.Dir, strings.Join(names, ", "))
}

// chooseOutput finds the output by name and checks its shape.
func (m *Model) chooseOutput(name string) error {
	outputs := m.backend.OutputsMeta
	if len(outputs) == 0 {
		return fmt.Errorf("the graph has no outputs: %w", ErrUnsupported)
	}
	if name != "" {
		m.output = slices.IndexFunc(outputs, func(o backends.InputOutputInfo) bool { return o.Name == name })
		if m.output < 0 {
			return fmt.Errorf("no output %q, there are: %s", name, strings.Join(backends.GetNames(outputs), ", "))
		}
	}
	dims := outputs[m.output].Dimensions
	const perText, perToken = 2, 3 // axes: [text, width], [text, token, width]
	for _, o := range outputs {    // hugot reshapes all of them
		if len(o.Dimensions) == perToken && o.Dimensions[perToken-1] < 0 {
			return fmt.Errorf("output %s of shape %v has no fixed width: %w", o.Name, o.Dimensions, ErrUnsupported)
		}
	}
	if len(dims) != perText && len(dims) != perToken {
		return fmt.Errorf("output %s has the shape %v: want a row for each text, or for each token: %w", outputs[m.output].Name, dims, ErrUnsupported)
	}
	m.perToken = len(dims) == perToken
	return nil
}

// chooseInputs checks that the model asks for no more than token ids, their mask and their types.
func (m *Model) chooseInputs() error {
	for _, in := range m.backend.InputsMeta {
		switch in.Name {
		case "input_ids", "attention_mask":
		case "token_type_ids":
			m.segments = 2
		case "position_ids":
			return fmt.Errorf("it takes position_ids, which hugot counts from 1 and models do not: %w", ErrUnsupported)
		default:
			return fmt.Errorf("it takes the input %q, which texts do not have: %w", in.Name, ErrUnsupported)
		}
	}
	return nil
}

// try runs the shortest sequence.
func (m *Model) try() error {
	ids, _, err := m.tokens.Encode("a", m.window)
	if err != nil {
		return err
	}
	outputs, err := m.Run(context.Background(), []Sequence{{IDs: ids}})
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnsupported, err)
	}
	m.width = len(outputs[0][0])
	return nil
}

// Tokens returns the model's tokenizer.
func (m *Model) Tokens() Tokenizer { return m.tokens }

// Window is the most tokens of a sequence, special tokens included.
func (m *Model) Window() int { return m.window }

// Width is the length of a row of the output.
func (m *Model) Width() int { return m.width }

// PerToken says whether the output has a row for each token, or one for the whole text.
func (m *Model) PerToken() bool { return m.perToken }

// Digest is a SHA-256 in hex of the graph, the tokenizer's file and the kind of tokenizer that reads it.
func (m *Model) Digest() string { return m.digest }

// Close waits for a call of Run that is under way and frees the model. A later Run is an error. A second Close does
// nothing.
func (m *Model) Close() error {
	if _, open := <-m.turn; !open {
		return nil
	}
	close(m.turn)
	return errors.Join(m.tokens.Close(), freeBackend(m.backend))
}
