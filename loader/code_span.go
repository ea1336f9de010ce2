package loader

import "strings"

// codeSpan is what may reach over several lines of source code and holds no definition: a comment or a string.
type codeSpan struct {
	open, close string
	comment     bool
}

// Spans that several languages share.
var (
	blockComment = codeSpan{"/*", "*/", true}
	threeQuotes  = codeSpan{`"""`, `"""`, false}
	threeTicks   = codeSpan{"'''", "'''", false}
	template     = codeSpan{"`", "`", false}
)

// spansOf are the spans of languages that are not of the form of C, which has comments alone.
var spansOf = map[string][]codeSpan{
	"python": {threeQuotes, threeTicks}, "julia": {threeQuotes}, "elixir": {threeQuotes}, "toml": {threeQuotes, threeTicks},
	"java": {blockComment, threeQuotes}, "kotlin": {blockComment, threeQuotes}, "scala": {blockComment, threeQuotes}, "swift": {blockComment, threeQuotes},
	"csharp": {blockComment, threeQuotes}, "groovy": {blockComment, threeQuotes, threeTicks}, "dart": {blockComment, threeQuotes, threeTicks},
	"javascript": {blockComment, template}, "jsx": {blockComment, template}, "typescript": {blockComment, template}, "tsx": {blockComment, template},
	"go": {blockComment, template}, "c": {blockComment}, "cpp": {blockComment}, "objectivec": {blockComment}, "rust": {blockComment},
	"php": {blockComment}, "protobuf": {blockComment}, "sql": {blockComment}, "haskell": {{"{-", "-}", true}}, "ocaml": {{"(*", "*)", true}},
	"lua": {{"--[[", "]]", true}}, "powershell": {{"<#", "#>", true}}, "ruby": {{"=begin", "=end", true}},
}

// lineComment is how comments to the end of the line begin, by what else a language has.
func lineComment(spans []codeSpan) string {
	for _, s := range spans {
		if s.open == blockComment.open {
			return "//"
		}
	}
	return "#"
}

// codeSpans follows spans from line to line.
type codeSpans struct {
	spans  []codeSpan
	toEnd  string    // begins a comment that ends with its line
	inside *codeSpan // the span the next line begins in; nil: none
}

func newCodeSpans(language string) codeSpans {
	spans := spansOf[language]
	return codeSpans{spans: spans, toEnd: lineComment(spans)}
}

// next takes a line and returns the span that it begins in, nil if it begins in none.
func (s *codeSpans) next(line string) *codeSpan {
	began := s.inside
	for line != "" {
		if s.inside != nil {
			_, rest, closed := strings.Cut(line, s.inside.close)
			if !closed {
				return began
			}
			line, s.inside = rest, nil
			continue
		}
		line = s.skip(line)
	}
	return began
}

// skip returns what follows the first piece of a line that is outside of spans: one character, a string within the
// line, or the mark that opens a span.
func (s *codeSpans) skip(line string) string {
	for i := range s.spans {
		if rest, ok := strings.CutPrefix(line, s.spans[i].open); ok {
			s.inside = &s.spans[i]
			return rest
		}
	}
	if strings.HasPrefix(line, s.toEnd) {
		return ""
	}
	if quote := line[0]; quote == '"' || quote == '\'' {
		for i := 1; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case quote:
				return line[i+1:]
			}
		}
	}
	return line[1:]
}
