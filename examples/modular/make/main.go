// Make writes the documents of the example that are no text: two PDFs with diagrams, and two Word files. Run it in
// examples/modular with go run ./make; it writes the same bytes each time.
package main

import (
	"log"
	"os"
	"path/filepath"
)

func main() {
	if err := write("docs"); err != nil {
		log.Fatal(err)
	}
}

// write makes the files in a folder.
func write(dir string) error {
	for name, document := range map[string]func() ([]byte, error){
		"mooring-design.pdf":      func() ([]byte, error) { return pdf("Mooring Design", mooring), nil },
		"storm-procedure.pdf":     func() ([]byte, error) { return pdf("Storm Procedure", storm), nil },
		"sensor-calibration.docx": func() ([]byte, error) { return docx("Sensor Calibration", calibration) },
		"vessel-handbook.docx":    func() ([]byte, error) { return docx("Vessel Handbook", vessel) },
	} {
		data, err := document()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
