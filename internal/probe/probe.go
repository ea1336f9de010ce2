// Package probe helps tests that try, as one tenant, to see what another has: texts of two tenants in which everything that
// is the other's has a mark of its own, requests made up of names and conditions that are forged, and a check that looks for
// the marks in what comes back.
package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"html"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Requests is how many a test makes.
const Requests = 1000

// seed makes the requests of a test the same each time.
const seed = 12

// Mark returns a word that stands nowhere else, for a place where the other tenant has something: "text", "title".
func Mark(place string) string {
	sum := sha256.Sum256([]byte(place))
	return "zq" + hex.EncodeToString(sum[:6])
}

// Hidden is the name of a collection that only the other tenant has something in.
func Hidden() string { return "c" + Mark("collection") }

// Own is a word that stands in all answers of the tenant's own passages.
const Own = "heron of red"

// Documents returns texts of the tenants red and blue by name: the collection in which both have some, and the one of blue's.
func Documents() (shared, hidden map[string]string) {
	blue := func(name string) string {
		return "---\ntenant: blue\nowner: " + Mark("value") + "\n" + Mark("field") + ": 7\ntags: [water, " + Mark("tag") + "]\n---\n# " + Mark("title") + " " + name + "\n\n"
	}
	shared = map[string]string{
		"red.md":                       "---\ntenant: red\ntags: [water, bird]\n---\n# Herons\n\n## Food\n\nThe heron of red eats fish at dawn.\n\n![heron](red.png)\n",
		"red-nest.md":                  "---\ntenant: red\n---\n# Nests\n\nThe heron of red sleeps in a nest above the water.\n",
		"blue-" + Mark("name") + ".md": blue("Badgers") + "## " + Mark("heading") + "\n\nThe " + Mark("text") + " badger of blue eats worms at night, and fish at dawn.\n\n## Den\n\nIt sleeps below the old oak.\n",
		"blue-sett.md":                 blue("Sett") + "A drawing of the sett of " + Mark("near") + ".\n\n![" + Mark("alt") + "](" + Mark("picture") + ".png)\n",
	}
	return shared, map[string]string{"private.md": blue("Ledger") + "The treasure of " + Mark("hidden") + " lies in the cellar.\n"}
}

// Picture is the one of a name: blue's is all of one colour that red's has nothing of.
func Picture(name string) []byte {
	c := color.NRGBA{G: 0xc0, A: 0xff}
	if strings.Contains(name, Mark("picture")) {
		c = color.NRGBA{R: 0xff, B: 0xff, A: 0xff}
	}
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range img.Rect.Dx() * img.Rect.Dy() {
		img.SetNRGBA(i%img.Rect.Dx(), i/img.Rect.Dx(), c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // memory takes everything
	}
	return b.Bytes()
}

// shows reports whether a picture, whatever it was scaled to, is blue's.
func shows(data []byte) bool {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	r, g, b, _ := img.At(img.Bounds().Min.X, img.Bounds().Min.Y).RGBA()
	return r > 0xa000 && g < 0x5000 && b > 0xa000
}

// places are where blue has something.
var places = []string{"name", "title", "value", "field", "tag", "heading", "text", "near", "alt", "picture", "hidden", "collection", "question", "job"}

// Prober makes up requests.
type Prober struct {
	r       *rand.Rand
	names   []string // what red may know of blue's: names, IDs, words
	secrets []string // what must not come back unless it was sent
}

// New returns a prober, and logs by what its requests are made.
func New(t testing.TB) *Prober {
	t.Logf("requests of seed %d", seed)
	p := &Prober{r: rand.New(rand.NewPCG(seed, seed))}
	for _, place := range places {
		p.Learn(Mark(place))
	}
	p.secrets = append(p.secrets, "old oak", "badger of blue", "treasure of")
	return p
}

// Learn adds names of blue's that the engine has given: of documents, passages, pictures, traces.
func (p *Prober) Learn(names ...string) {
	if slices.Contains(names, "") {
		panic("probe: a name is empty: it would be found everywhere")
	}
	p.names, p.secrets = append(p.names, names...), append(p.secrets, names...)
}

// N returns a number from 0 to n-1.
func (p *Prober) N(n int) int { return p.r.IntN(n) }

// Pick returns one of these.
func (p *Prober) Pick(from ...string) string { return from[p.r.IntN(len(from))] }

// Name returns a name of blue's, or one that is a little off.
func (p *Prober) Name() string {
	s := p.names[p.r.IntN(len(p.names))]
	switch p.r.IntN(6) {
	case 0:
		return s[:p.r.IntN(len(s))]
	case 1:
		return s + p.Pick("#1", "/", "%00", "'", "/../x", `"`, " ", "*")
	case 2:
		return strings.ToUpper(s)
	}
	return s
}

// Collection returns the name of a collection, or almost one. "" is the server's own.
func (p *Prober) Collection() string {
	return p.Pick("", "", "", "default", "default", "defaul", Hidden(), Hidden()[:8], "none", "../default")
}

// Question returns what is asked.
func (p *Prober) Question() string {
	return p.Pick("what does the heron eat at dawn", "badger worms night", "den below the oak", "drawing of the sett", `"worms at night"`, "blue", "x", `"`+p.Name()+`"`, p.Name()+"*",
		p.Name(), p.Name()+" heron", "where is the treasure", strings.Repeat("blue ", 100), "heron OR "+p.Name())
}

// Filter returns a condition, in its text form, that tries to widen what is seen, or is broken.
func (p *Prober) Filter() string {
	return p.Pick(
		"", "", `tenant = blue`, `not tenant = red`, `tenant = red or tenant = blue`, `not (tenant = red and tenant = blue)`, `tenant >= "a"`, `tenant in (blue, red)`,
		`uri = "mem:docs/blue-sett.md"`, `title = "Badgers"`, `everything`, `tenant = `, `)`, `tenant exists`, `doc_id = "`+p.quotable()+`"`, `owner = "`+p.quotable()+`"`,
		Mark("field")+` > 3`, `tags = "`+p.quotable()+`"`, `tag = water`, p.quotable()+` exists`, `tenant = "red" or (tenant = "blue`, `tenant = 5`,
	)
}

// quotable is a name that can stand in quotes.
func (p *Prober) quotable() string { return strings.NewReplacer(`"`, "", "%", "").Replace(p.Name()) }

// Day returns an instant, or none.
func (p *Prober) Day() string { return p.Pick("", "", "", "2024-01-01", "9999-12-31", "x") }

// Leak returns what of blue's a reply tells that the request did not hold already, "" if nothing. Texts are looked at as they
// came, as a URL and HTML hold them, and pictures, also within the text as base64, by what they show.
func (p *Prober) Leak(request string, reply string, pictures ...[]byte) string {
	sent, got := plain(request), plain(reply)
	for _, s := range p.secrets {
		if s = strings.ToLower(s); strings.Contains(got, s) && !strings.Contains(sent, s) {
			return s
		}
	}
	data := Picture(Mark("picture"))
	if bytes.Contains([]byte(reply), data) || strings.Contains(reply, base64.StdEncoding.EncodeToString(data)) {
		return "the picture"
	}
	for _, one := range pictures {
		if shows(one) {
			return "the picture, scaled"
		}
	}
	return ""
}

// plain is a text in small letters, with what stands for characters in URLs and HTML behind it.
func plain(s string) string {
	s = strings.ToLower(s)
	if u, err := url.QueryUnescape(s); err == nil {
		s += "\n" + u
	}
	return s + "\n" + html.UnescapeString(s)
}
