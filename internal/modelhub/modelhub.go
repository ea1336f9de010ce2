// Package modelhub knows the published models that the local providers can run: what each needs, where its files are
// looked for on this machine, and how they are fetched and checked.
//
//	card, ok := modelhub.Named("all-minilm-l6")
//	folder, err := modelhub.Find(card.Name, "") // an error that says where it looked and what to do
//
// Nothing is downloaded but by [Puller.Pull].
package modelhub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kinds of errors.
var (
	ErrNotFound    = errors.New("model not found")       // no folder holds the model, or no hub has it
	ErrUnsupported = errors.New("model not supported")   // its shape is known, and cannot be run
	ErrMismatch    = errors.New("not as published")      // a file, or what the model computes, is not what was published
	ErrUnavailable = errors.New("hub not available")     // it did not answer: worth another try
	ErrInvalid     = errors.New("not a usable model")    // a file of the model cannot be what it should be
	ErrUnknown     = errors.New("no model of this name") // not a preset
)

// What a model is for.
const (
	TaskEmbed  = "embed"  // texts to vectors
	TaskRerank = "rerank" // a query and a text to a score
)

// Pooling says how the vectors of a text's tokens become one.
const (
	PoolingMean = "mean" // their mean direction
	PoolingCLS  = "cls"  // the vector of the first token
)

// The files of a model's folder.
const (
	ConfigFile    = "config.json"
	TokenizerFile = "tokenizer.json"
	WeightsFile   = "model.safetensors"
)

// FileNames lists the files of a model, the largest last.
var FileNames = []string{ConfigFile, TokenizerFile, WeightsFile}

// Card holds everything that using a model takes besides its files.
type Card struct {
	Name           string   // in settings: "bge-small-en"
	Title          string   // as published: "bge-small-en-v1.5"
	Task           string   // TaskEmbed or TaskRerank
	Repository     string   // on the hub: "owner/name"; "" for a model that is part of the program
	Revision       string   // commit of the repository
	License        string   // SPDX
	Files          []File   // what of the files is known beforehand; others are taken as they come
	QuestionPrefix string   // put before a question
	PassagePrefix  string   // put before a passage
	Pooling        string   // PoolingMean or PoolingCLS; "" for a reranker
	MaxTokens      int      // longest input, special tokens included
	Dims           int      // length of a vector, which is scaled to unit length; 0 for a reranker
	Languages      []string // BCP 47 primary tags; nil: any
	Checks         []Check
	Unsupported    string // why the model cannot be run; "" if it can
}

// File is what is known of a file.
type File struct {
	Name   string
	Size   int64  // bytes
	SHA256 string // hex
}

// Check is a text, or a pair of texts, and what the published model makes of it: the first components of the vector,
// prefixes not added, or the score. A model that strays from it is not used.
type Check struct {
	Text   string
	Pair   string // the passage, where Text is a query; "" for an embedding model
	Want   []float64
	Within float64 // how far each number may be from its reference; 0: Tolerance
}

// Tolerance is how far a component of a vector, or a score, may be from its reference where a check says no more.
const Tolerance = 1e-3

// Refusal says why a model that is known cannot be run; nil if it can. It is of kind ErrUnsupported.
func (c Card) Refusal() error {
	if c.Unsupported == "" {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", c.Name, ErrUnsupported, c.Unsupported)
}

// Named returns the card of a preset, by its name or its repository, in any case of letters.
func Named(name string) (Card, bool) {
	for _, c := range presets {
		if strings.EqualFold(name, c.Name) || (c.Repository != "" && strings.EqualFold(name, c.Repository)) {
			return c, true
		}
	}
	return Card{}, false
}

// Names returns the names of the presets for a task that can be run, in the order of the list.
func Names(task string) []string {
	var names []string
	for _, c := range presets {
		if c.Task == task && c.Unsupported == "" {
			names = append(names, c.Name)
		}
	}
	return names
}

// Presets returns the cards of all presets that can be run.
func Presets() []Card {
	return slices.DeleteFunc(slices.Clone(presets), func(c Card) bool { return c.Unsupported != "" })
}

// file returns what the card knows of a file.
func (c Card) file(name string) File {
	for _, f := range c.Files {
		if f.Name == name {
			return f
		}
	}
	return File{Name: name}
}
