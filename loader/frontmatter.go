package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// maxFrontMatter is how far from the beginning the closing line is looked for; written ones have a few hundred bytes.
const maxFrontMatter = 64 << 10

// frontMatter is the block of settings between two lines of --- (YAML) or +++ (TOML) that begins many Markdown files.
type frontMatter struct {
	meta    rag.Meta
	length  int    // bytes of text to cut off, closing line included; 0: none there
	warning string // why a block that was meant as front matter is left in the text
}

// readFrontMatter looks for front matter at the beginning of text. A block that is not a mapping, such as a
// paragraph between two rules, is text.
func readFrontMatter(text string) frontMatter {
	block, length, marker := frontMatterBlock(text)
	if length == 0 {
		return frontMatter{}
	}
	values := map[string]any{}
	var err error
	if marker == "+++" {
		err = toml.Unmarshal([]byte(block), &values)
	} else {
		err = yaml.Unmarshal([]byte(block), &values)
	}
	// A blank line behind --- is how a horizontal rule is written; what follows may have a colon by chance.
	rule := marker == "---" && (err != nil || strings.HasPrefix(strings.TrimLeft(block, " \t"), "\n"))
	if rule && !meantAsYAML(block) && strings.TrimSpace(block) != "" {
		return frontMatter{}
	}
	if err != nil {
		return frontMatter{warning: fmt.Sprintf("front matter could not be read and stays in the text: %s", inWords(err, block))}
	}
	return frontMatter{meta: flatMeta(values), length: length}
}

// inWords says on one line what is wrong with front matter. Lines count from its first.
func inWords(err error, block string) string {
	var values *yaml.TypeError
	switch {
	case strings.HasPrefix(err.Error(), "toml: "):
		return strings.TrimPrefix(oneLine(err), "toml: ")
	case errors.As(err, &values) && strings.Contains(err.Error(), "cannot unmarshal"):
		return "it must be keys and values"
	case errors.As(err, &values): // keys that stand twice
		return strings.Join(values.Errors, ", ")
	}
	line, message := strict.YAMLError(err, []byte(block))
	return fmt.Sprintf("line %d: %s", line, message)
}

// oneLine returns an error's text on one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// frontMatterBlock returns what stands between the marker in the first line and the one that closes it, and the
// length of the whole.
func frontMatterBlock(text string) (block string, length int, marker string) {
	first, _, _ := strings.Cut(text, "\n")
	marker = strings.TrimRight(first, " \t")
	if marker != "---" && marker != "+++" || len(first) == len(text) {
		return "", 0, ""
	}
	start := len(first) + 1
	for pos := start; pos < len(text) && pos <= maxFrontMatter; {
		line, _, found := strings.Cut(text[pos:], "\n")
		end := pos + len(line)
		if found {
			end++
		}
		closing := strings.TrimRight(line, " \t")
		if closing == marker || marker == "---" && closing == "..." {
			return text[start:pos], end, marker
		}
		pos = end
	}
	return "", 0, ""
}

// meantAsYAML reports whether the first line that is neither blank nor a comment begins with a key of one word.
func meantAsYAML(block string) bool {
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, _, found := strings.Cut(line, ":")
		return found && !strings.ContainsAny(strings.Trim(key, `"'`), " \t*_`[")
	}
	return false
}

// flatMeta turns decoded values into the kinds that Meta allows: nested mappings become dotted names, dates ISO
// strings, lists lists of strings in which what is no scalar is JSON.
func flatMeta(values map[string]any) rag.Meta {
	meta := rag.Meta{}
	flatten(meta, "", values)
	if len(meta) == 0 {
		return nil
	}
	return meta
}

func flatten(meta rag.Meta, prefix string, values map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := prefix + key
		switch v := values[key].(type) {
		case nil:
		case map[string]any:
			flatten(meta, name+".", v)
		case map[any]any: // YAML with keys that are no strings
			flatten(meta, name+".", stringKeys(v))
		case []any:
			list := make([]string, 0, len(v))
			for _, e := range v {
				list = append(list, scalarText(e))
			}
			meta[name] = list
		case []map[string]any: // TOML arrays of tables
			list := make([]string, 0, len(v))
			for _, e := range v {
				list = append(list, scalarText(e))
			}
			meta[name] = list
		default:
			meta[name] = scalar(v)
		}
	}
}

func stringKeys(m map[any]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[fmt.Sprint(k)] = v
	}
	return out
}

// scalar returns a string, float64 or bool.
func scalar(v any) any {
	switch v := v.(type) {
	case string, bool:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) { // JSON has no way to write them
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return v
	case time.Time:
		return dateText(v)
	}
	return fmt.Sprint(v)
}

// dateText writes a date as it was given: without a time of day if it had none.
func dateText(t time.Time) string {
	switch t.Location().String() { // set by the TOML decoder
	case "time-local":
		return t.Format(time.TimeOnly)
	case "datetime-local":
		return t.Format("2006-01-02T15:04:05")
	}
	if h, m, s := t.Clock(); h == 0 && m == 0 && s == 0 && t.Nanosecond() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// scalarText returns a list's element as a string.
func scalarText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case map[string]any, []any, map[any]any, []map[string]any:
		if b, err := json.Marshal(jsonable(v)); err == nil {
			return string(b)
		}
		return fmt.Sprint(v)
	}
	switch v := scalar(v).(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// jsonable replaces what JSON cannot hold, below mappings and lists as well.
func jsonable(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = jsonable(e)
		}
		return out
	case map[any]any:
		return jsonable(stringKeys(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = jsonable(e)
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = jsonable(e)
		}
		return out
	}
	return scalar(v)
}
