package modelrun

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-d8745b77/rag/internal/encoder"
	"github.com/seed-d8745b77/rag/internal/modelhub"
	"github.com/seed-d8745b77/rag/internal/modelhub/modeltest"
)

// weightsOf opens a folder and returns its model and the weights.
func weightsOf(t *testing.T, dir string) (*Model, *encoder.Model) {
	t.Helper()
	m, err := Open(modelhub.Card{Name: "m", Task: modelhub.TaskEmbed, Pooling: modelhub.PoolingMean}, dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.load()
	if err != nil {
		t.Fatal(err)
	}
	return m, w
}

func TestModelsOnOneFolderShareWhatIsLoaded(t *testing.T) {
	dir := t.TempDir()
	modeltest.Write(t, dir, modeltest.Shape{Seed: 1})
	first, weights := weightsOf(t, dir)
	second, again := weightsOf(t, dir)
	if weights != again || first.words != second.words {
		t.Error("a second model on the folder was loaded anew")
	}
	other := t.TempDir()
	modeltest.Write(t, other, modeltest.Shape{Seed: 1})
	if _, w := weightsOf(t, other); w == weights {
		t.Error("another folder has the same weights")
	}
	// Replaced, not written over: the old file is mapped.
	if err := os.Remove(filepath.Join(dir, modelhub.WeightsFile)); err != nil {
		t.Fatal(err)
	}
	modeltest.Write(t, dir, modeltest.Shape{Seed: 2})
	if _, w := weightsOf(t, dir); w == weights {
		t.Error("a folder that was filled anew has the old weights")
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
}

func TestWhatNoModelUsesIsGone(t *testing.T) {
	var s sharing
	made := 0
	get := func() *parts {
		p, err := s.get("key", func() (*parts, error) { made++; return &parts{}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := get()
	runtime.GC()
	if get() != p || made != 1 {
		t.Fatalf("made %d times while in use", made)
	}
	runtime.KeepAlive(p)
	runtime.GC()
	get()
	if made != 2 {
		t.Errorf("made %d times: what nobody uses is kept", made)
	}
}
