package loader

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// besideName is the name under which a source's Beside finds what its text refers to: "img/a%20b.png?v=2" is
// img/a b.png. It is "" for what lies elsewhere: an address with a scheme or host, and a place in the page itself.
func besideName(ref string) string {
	ref = strings.ReplaceAll(strings.TrimSpace(ref), `\`, "/") // as browsers read it
	u, err := url.Parse(ref)
	switch {
	case err != nil && strings.Contains(ref, ":"):
		return ""
	case err != nil: // a percent sign that escapes nothing
		ref, _, _ = strings.Cut(ref, "#")
		ref, _, _ = strings.Cut(ref, "?")
		return ref
	case u.Scheme != "" || u.Host != "":
		return ""
	}
	return u.Path
}

// readBeside reads a picture that lies beside a source. The error names it.
func readBeside(ctx context.Context, src rag.Source, name string) ([]byte, error) {
	data, err := func() ([]byte, error) {
		f, err := src.Beside(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(source.Reader(ctx, f), maxImageBytes+1))
	}()
	if err == nil && len(data) > 0 && imageType(path.Base(name), data) == unknownType {
		err = fmt.Errorf("it is no picture: %w", rag.ErrUnsupported)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// shownLost is how many lost pictures of a document are named in its warnings.
const shownLost = 5

// lostPicture notes a picture that could not be read; of more than a few only that there are more.
func (w *warnings) lostPicture(err error) {
	const lost = "a picture could not be read: "
	message := lost + err.Error()
	if slices.Contains(*w, rag.Warning{Message: message}) {
		return
	}
	n := 0
	for _, x := range *w {
		if strings.HasPrefix(x.Message, lost) {
			n++
		}
	}
	if n >= shownLost {
		message = "more pictures could not be read"
	}
	w.add(message)
}
