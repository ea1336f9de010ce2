package loader

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
)

// Versions of the rules by which each format becomes text. One is raised whenever the same bytes would give another
// document: sources of that format are then ingested again.
const (
	csvVersion      = 1
	codeVersion     = 2
	docxVersion     = 2
	emlVersion      = 2
	epubVersion     = 2
	htmlVersion     = 4
	jsonVersion     = 1
	markdownVersion = 3
	notebookVersion = 2
	pptxVersion     = 1
	textVersion     = 2
	xlsxVersion     = 2
)

var _ = []rag.Fingerprinter{
	(*CSV)(nil), (*Code)(nil), (*DOCX)(nil), (*EML)(nil), (*EPUB)(nil), (*HTML)(nil), (*JSON)(nil), (*Markdown)(nil),
	(*Notebook)(nil), (*PPTX)(nil), (*Text)(nil), (*XLSX)(nil),
}

// fingerprint joins a format, its version and the settings that change the text: "docx/2/false/true".
func fingerprint(format string, version int, settings ...any) string {
	s := fmt.Sprintf("%s/%d", format, version)
	for _, v := range settings {
		s += fmt.Sprintf("/%v", v)
	}
	return s
}

// Fingerprint names the version of the rules and the settings that change the text.
func (c *CSV) Fingerprint() string {
	return fingerprint("csv", csvVersion, c.cfg.Encoding, c.cfg.Separator, c.cfg.NoHeader)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (c *Code) Fingerprint() string { return fingerprint("code", codeVersion, c.cfg.Encoding) }

// Fingerprint names the version of the rules and the settings that change the text.
func (d *DOCX) Fingerprint() string {
	return fingerprint("docx", docxVersion, d.cfg.Comments, d.cfg.Links)
}

// Fingerprint names the version of the rules, those of attachments among them, and the settings that change the text.
func (l *EML) Fingerprint() string {
	s := fingerprint("eml", emlVersion, l.cfg.NoAttachments)
	if l.cfg.NoAttachments {
		return s
	}
	for _, a := range l.loaders {
		s += "+" + a.(rag.Fingerprinter).Fingerprint()
	}
	return s
}

// Fingerprint names the version of the rules, those of HTML among them, and the settings that change the text.
func (l *EPUB) Fingerprint() string {
	return fingerprint("epub", epubVersion, htmlVersion, l.cfg.Links)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (l *HTML) Fingerprint() string {
	return fingerprint("html", htmlVersion, l.cfg.Encoding, l.cfg.Links)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (j *JSON) Fingerprint() string {
	return fingerprint("json", jsonVersion, j.cfg.Encoding, j.cfg.Text, j.cfg.Title)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (m *Markdown) Fingerprint() string {
	return fingerprint("markdown", markdownVersion, m.cfg.Encoding)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (n *Notebook) Fingerprint() string {
	return fingerprint("notebook", notebookVersion, n.cfg.NoOutputs)
}

// Fingerprint names the version of the rules and the settings that change the text.
func (l *PPTX) Fingerprint() string { return fingerprint("pptx", pptxVersion, l.cfg.NoNotes) }

// Fingerprint names the version of the rules and the settings that change the text.
func (t *Text) Fingerprint() string { return fingerprint("text", textVersion, t.cfg.Encoding) }

// Fingerprint names the version of the rules and the settings that change the text.
func (l *XLSX) Fingerprint() string { return fingerprint("xlsx", xlsxVersion, l.cfg.Hidden) }
