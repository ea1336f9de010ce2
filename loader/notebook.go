package loader

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// NotebookConfig sets how notebooks are read.
type NotebookConfig struct {
	MaxBytes  int64 `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
	NoOutputs bool  `json:"no_outputs"`                                   // what the code printed and drew is left out
}

// Notebook reads Jupyter notebooks (nbformat 3 to 4): text cells as Markdown, code cells in fences, what they printed in
// fences behind them, what they drew in Images. It is safe for concurrent use.
type Notebook struct{ cfg NotebookConfig }

var (
	_ rag.Loader    = (*Notebook)(nil)
	_ rag.Formatter = (*Notebook)(nil)
)

// NewNotebook returns a loader of notebooks. A negative limit is ErrInvalid.
func NewNotebook(cfg NotebookConfig) (*Notebook, error) {
	if cfg.MaxBytes < 0 {
		return nil, fmt.Errorf("max_bytes must not be negative: %w", rag.ErrInvalid)
	}
	return &Notebook{cfg}, nil
}

// Formats says: by extension.
func (*Notebook) Formats() []rag.Format {
	return []rag.Format{{Name: "notebook", Extensions: []string{".ipynb"}, MediaTypes: []string{"application/x-ipynb+json"}}}
}

// Load yields the one document of src. What is no notebook is ErrInvalid.
func (n *Notebook) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, n.cfg.MaxBytes, n.parse)
}

// The parts of a notebook that are read.
type (
	notebookFile struct {
		Cells      []notebookCell
		Worksheets []struct{ Cells []notebookCell } // up to version 3
		Metadata   struct {
			Kernelspec   struct{ Language string }
			LanguageInfo struct{ Name string } `json:"language_info"`
			Title        string
		}
		Format *int `json:"nbformat"`
	}
	notebookCell struct {
		Kind    string `json:"cell_type"`
		Source  notebookText
		Input   notebookText // up to version 3
		Level   int          // of a heading, up to version 3
		Outputs []notebookOutput
	}
	notebookOutput struct {
		Text  notebookText // of a stream
		Data  map[string]json.RawMessage
		Name  notebookText `json:"ename"` // of an error
		Value notebookText `json:"evalue"`
	}
)

// notebookText is a text written as a string or as a list of lines.
type notebookText string

// UnmarshalJSON reads either form; anything else is no text.
func (t *notebookText) UnmarshalJSON(raw []byte) error {
	var lines []string
	if json.Unmarshal(raw, &lines) == nil {
		*t = notebookText(strings.Join(lines, ""))
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = notebookText(s)
	}
	return nil
}

func (n *Notebook) parse(ctx context.Context, _ rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, "", "")
	if err != nil {
		return rag.Document{}, err
	}
	var file notebookFile
	if err := strict.Unmarshal([]byte(d.text), &file); err != nil || file.Format == nil {
		return rag.Document{}, fmt.Errorf("no notebook (%v): %w", err, rag.ErrInvalid)
	}
	w := notebookWriter{language: strings.ToLower(mdtext.Line(firstOf(file.Metadata.LanguageInfo.Name, file.Metadata.Kernelspec.Language))), outputs: !n.cfg.NoOutputs}
	if !languageName(w.language) {
		w.language = ""
	}
	cells := file.Cells
	for _, sheet := range file.Worksheets {
		cells = append(cells, sheet.Cells...)
	}
	for _, c := range cells {
		w.cell(c)
		if err := ctx.Err(); err != nil {
			return rag.Document{}, err
		}
	}
	doc := rag.Document{Text: w.out.text(), Images: w.images, Warnings: append(d.warnings, w.warnings...)}
	headings, _ := markdownOutline(doc.Text)
	doc.Sections = sections(headings, len(doc.Text))
	doc.Title = firstOf(mdtext.Line(file.Metadata.Title), firstTitle(headings))
	if w.language != "" {
		doc.Meta = rag.Meta{"code": w.language}
	}
	doc.State = d.state(doc.Text)
	if doc.State == rag.StateEmpty {
		doc.Text, doc.Sections = "", nil
		for i := range doc.Images {
			doc.Images[i].Offset = 0
		}
	}
	return doc, nil
}

// notebookWriter lays cells out.
type notebookWriter struct {
	language string
	outputs  bool
	out      blockWriter
	pictures pictures
	images   []rag.Image
	warnings warnings
}

func (w *notebookWriter) cell(c notebookCell) {
	source := strings.Trim(normalise(string(c.Source)), "\n")
	switch c.Kind {
	case "markdown", "raw":
		w.out.block(source)
	case "heading":
		if line := mdtext.Line(source); line != "" {
			w.out.block(strings.Repeat("#", min(max(c.Level, 1), maxHeading)) + " " + line)
		}
	case "code":
		if code := firstOf(source, strings.Trim(normalise(string(c.Input)), "\n")); code != "" {
			w.out.block(mdtext.Fence(w.language, code))
		}
		for i := range c.Outputs {
			if w.outputs {
				w.output(&c.Outputs[i])
			}
		}
	}
}

// output writes what a cell printed, and keeps what it drew. The text of what is drawn only names its class
// ("<Figure size 640x480>") and is left out.
func (w *notebookWriter) output(o *notebookOutput) {
	text := o.Text
	if drawn := o.Data["image/png"] != nil || o.Data["image/jpeg"] != nil; text == "" && !drawn {
		_ = text.UnmarshalJSON(o.Data["text/plain"]) // it has no error
	}
	if text == "" && o.Name != "" {
		text = o.Name + ": " + o.Value
	}
	if printed := strings.Trim(normalise(string(text)), "\n"); printed != "" {
		w.out.block(mdtext.Fence("", printed))
	}
	for _, media := range []string{"image/png", "image/jpeg"} {
		var encoded notebookText
		if o.Data[media] == nil || encoded.UnmarshalJSON(o.Data[media]) != nil {
			continue
		}
		img, err := w.pictures.get("data:"+media+";base64,"+string(encoded), func() ([]byte, error) {
			return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(encoded)), ""))
		})
		if err != nil {
			w.warnings.add("a picture could not be read: " + err.Error())
			continue
		}
		placed := *img
		placed.Offset = w.out.out.Len()
		w.images = append(w.images, placed)
	}
}
