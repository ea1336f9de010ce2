package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// defaultOCR reads scanned pages where the configuration names no other.
const defaultOCR = "tesseract"

// addOCR adds the flag --ocr.
func addOCR(cmd *cobra.Command, use *bool) {
	cmd.Flags().BoolVar(use, "ocr", false, "read scanned pages with the OCR of the configuration, else tesseract, which must be installed")
}

// ocrChange lets the configuration's OCR, or the default one, read scanned pages.
func ocrChange(c *rag.Config) {
	if c.OCR.Provider == "" || c.OCR.Provider == rag.None {
		c.OCR.Provider = defaultOCR
	}
}

func (f ingestFlags) ocrChanges() []change {
	if !f.ocr {
		return nil
	}
	return []change{ocrChange}
}
