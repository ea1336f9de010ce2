package loader_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newNotebook() rag.Loader { return must(loader.NewNotebook(loader.NotebookConfig{})) }

var notebook = `{"cells": [{"cell_type": "markdown", "source": ["# Ducks\n", "\n", "They swim."]},
 {"cell_type": "code", "source": "n = 2\nprint(n)", "outputs": [{"output_type": "stream", "text": ["2\n"]},
  {"output_type": "display_data", "data": {"image/png": "` + base64.StdEncoding.EncodeToString([]byte(pngBytes)) + `\n", "text/plain": ["<Figure>"]}}]},
 {"cell_type": "code", "source": [], "outputs": []}],
 "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}`

func TestNotebookSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newNotebook() },
		ragtest.Sample{Name: "a.ipynb", Data: []byte(notebook), Want: "# Ducks They swim."})
}

func TestNotebook(t *testing.T) {
	doc := mustLoad(t, newNotebook(), notebook)
	want := "# Ducks\n\nThey swim.\n\n```python\nn = 2\nprint(n)\n```\n\n```\n2\n```\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if doc.Title != "Ducks" || len(doc.Sections) != 1 || doc.Meta["code"] != "python" || len(doc.Images) != 1 || doc.Images[0].MediaType != "image/png" {
		t.Errorf("title %q, %d sections, meta %v, %d images", doc.Title, len(doc.Sections), doc.Meta, len(doc.Images))
	}
	quiet := mustLoad(t, must(loader.NewNotebook(loader.NotebookConfig{NoOutputs: true})), notebook)
	if want := "# Ducks\n\nThey swim.\n\n```python\nn = 2\nprint(n)\n```\n"; quiet.Text != want || len(quiet.Images) != 0 {
		t.Errorf("without outputs: %q", quiet.Text)
	}
	old := mustLoad(t, newNotebook(), `{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Old"}, {"cell_type": "code", "input": "x"}]}]}`)
	if want := "## Old\n\n```\nx\n```\n"; old.Text != want {
		t.Errorf("version 3: got %q, want %q", old.Text, want)
	}
	failed := mustLoad(t, newNotebook(), `{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x", "outputs": [{"output_type": "error", "ename": "NameError", "evalue": "no x", "traceback": ["\u001b[31m"]}, {"ename": 1}]}]}`)
	if want := "```\nx\n```\n\n```\nNameError: no x\n```\n"; failed.Text != want {
		t.Errorf("a cell that failed: got %q, want %q", failed.Text, want)
	}
	if _, err := load(t, newNotebook(), []byte(`{"cells": 1}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("no notebook: %v", err)
	}
}

func FuzzNotebook(f *testing.F) {
	fuzzLoader(f, newNotebook(), notebook, `{"nbformat":4,"cells":[{"cell_type":"code","source":"\r","outputs":[{"data":{"image/png":"!","text/plain":7}}]}]}`, `{"nbformat":4,"cells":[{"cell_type":"markdown","source":"<h1>\u0000"}]}`)
}
