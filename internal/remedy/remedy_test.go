package remedy

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestRemedies(t *testing.T) {
	at := func(err error) error {
		return fmt.Errorf("commit: %w", &fs.PathError{Op: "write", Path: "kb/rag.db", Err: err})
	}
	other := errors.New("the model chokes")
	for name, tt := range map[string]struct {
		err             error
		anywhere, opens string // what is added; "" nothing
	}{
		"none":       {nil, "", ""},
		"another":    {other, "", ""},
		"disk full":  {at(full[0]), room, room},
		"too many":   {at(tooMany[0]), files, files},
		"read-only":  {at(readOnly[0]), "", right},
		"permission": {at(fs.ErrPermission), "", right},
		"told":       {&told{at(full[0]), room}, "", ""},
		"told above": {fmt.Errorf("ingest: %w", &told{at(full[0]), room}), "", ""},
	} {
		for where, got := range map[string]error{tt.anywhere: Of(tt.err), tt.opens: OfFolder(tt.err)} {
			want := fmt.Sprint(tt.err)
			if where != "" {
				want += ": " + where
			}
			if fmt.Sprint(got) != want || !errors.Is(got, tt.err) {
				t.Errorf("%s: %v, want %s", name, got, want)
			}
		}
	}
}
