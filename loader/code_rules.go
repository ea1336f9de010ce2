package loader

import (
	"regexp"
	"strings"
)

// languageOfExtension names languages as code fences do.
var languageOfExtension = map[string]string{
	".go": "go", ".py": "python", ".pyi": "python",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "jsx", ".ts": "typescript", ".mts": "typescript", ".tsx": "tsx",
	".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".groovy": "groovy", ".cs": "csharp", ".swift": "swift", ".dart": "dart",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".m": "objectivec", ".mm": "objectivec",
	".rs": "rust", ".rb": "ruby", ".php": "php", ".lua": "lua", ".pl": "perl", ".pm": "perl", ".r": "r", ".jl": "julia",
	".sh": "bash", ".bash": "bash", ".zsh": "zsh", ".ps1": "powershell", ".sql": "sql", ".proto": "protobuf",
	".ex": "elixir", ".exs": "elixir", ".hs": "haskell", ".ml": "ocaml", ".zig": "zig",
	".css": "css", ".scss": "scss", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".tf": "hcl", ".cmake": "cmake", ".gradle": "groovy",
}

// codeRule finds the definitions of a language in its lines. The zero value finds none.
type codeRule struct {
	container *regexp.Regexp // what holds methods: its last group that matched is the name; nil: there are none
	function  *regexp.Regexp
	lead      *regexp.Regexp // lines that belong to the definition below: comments, annotations
}

// Lines that belong to the definition below them.
var (
	slashLead = regexp.MustCompile(`^\s*(?://|/\*|\*|@\w|\[\w.*\]$|#\[|#pragma|template\s*<)`)
	hashLead  = regexp.MustCompile(`^\s*(?:#[^!]|#$|@\w)`)
	dashLead  = regexp.MustCompile(`^\s*--`)
)

// Forms that several languages share.
var (
	// curly matches the modifiers, return type and name of a method or function whose line does not end the statement.
	curly     = regexp.MustCompile(`^\s*(?:[\w@<>\[\],.?:*&~]+[\s*&]+)+([A-Za-z_~][\w:~$]*)\s*\([^;={]*(?:\{.*|[^;={]*)$`)
	curlyType = regexp.MustCompile(`^\s*(?:[\w@().]+\s+)*(?:class|interface|enum|record|struct|object|trait|namespace|extension|protocol|actor|union|mixin|@interface|@implementation)\s+(?:class\s+)?([A-Za-z_][\w.:]*)[^;{]*(?:\{.*)?$`)
	keyword   = regexp.MustCompile(`^\s*(?:\w+\s+)*(?:fun|func|def|fn|sub|function)\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?([\w$?!=]+)`)
)

// codeRules are the rules by language.
var codeRules = map[string]codeRule{
	"go": {
		container: regexp.MustCompile(`^type\s+(\w+)`),
		function:  regexp.MustCompile(`^func\s+(?:\([^)]*\)\s*)?(\w+)`),
		lead:      slashLead,
	},
	"python": {
		container: regexp.MustCompile(`^\s*class\s+(\w+)`),
		function:  regexp.MustCompile(`^\s*(?:async\s+)?def\s+(\w+)`),
		lead:      hashLead,
	},
	"javascript": scriptRule, "jsx": scriptRule, "typescript": scriptRule, "tsx": scriptRule,
	"java": curlyRule, "csharp": curlyRule, "dart": curlyRule, "groovy": curlyRule, "c": curlyRule, "cpp": curlyRule, "objectivec": curlyRule,
	"kotlin": wordRule, "scala": wordRule, "swift": wordRule, "zig": wordRule,
	"php": wordRule,
	"rust": {
		container: regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|trait|mod|union|impl(?:<[^>]*>)?)\s+(?:[\w:<>, &']+\s+for\s+)?([A-Za-z_]\w*)[^;{]*(?:\{.*)?$`),
		function:  regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:\w+\s+)*(?:fn\s+|macro_rules!\s*)(\w+)`),
		lead:      slashLead,
	},
	"ruby": {
		container: regexp.MustCompile(`^\s*(?:class|module)\s+([A-Z][\w:]*)`),
		function:  regexp.MustCompile(`^\s*def\s+((?:self\.)?[\w?!=]+)`),
		lead:      hashLead,
	},
	"elixir": {
		container: regexp.MustCompile(`^\s*(?:defmodule|defprotocol|defimpl)\s+([\w.]+)`),
		function:  regexp.MustCompile(`^\s*(?:def|defp|defmacro)\s+([\w?!]+)`),
		lead:      hashLead,
	},
	"lua":   {function: regexp.MustCompile(`^\s*(?:local\s+)?function\s+([\w.:]+)`), lead: dashLead},
	"perl":  {function: regexp.MustCompile(`^\s*sub\s+(\w+)`), lead: hashLead},
	"r":     {function: regexp.MustCompile(`^([\w.]+)\s*(?:<-|=)\s*function\b`), lead: hashLead},
	"julia": {function: regexp.MustCompile(`^\s*(?:function|macro|(?:mutable\s+)?struct|module)\s+([\w.!]+)`), lead: hashLead},
	"bash":  shellRule, "zsh": shellRule,
	"powershell": {function: regexp.MustCompile(`(?i)^\s*(?:function|filter)\s+([\w:-]+)`), lead: hashLead},
	"sql": {
		function: regexp.MustCompile(`(?i)^\s*create\s+(?:or\s+replace\s+)?(?:\w+\s+)*?(?:table|view|function|procedure|trigger|index|type|schema)\s+(?:if\s+not\s+exists\s+)?([\w."` + "`" + `\[\]]+)`),
		lead:     dashLead,
	},
	"protobuf": {
		container: regexp.MustCompile(`^\s*(?:message|service|enum|oneof)\s+(\w+)`),
		function:  regexp.MustCompile(`^\s*rpc\s+(\w+)`),
		lead:      slashLead,
	},
	"haskell": {function: regexp.MustCompile(`^(?:data|newtype|class|instance)\s+(\w.*?)\s*(?:=|where|$)|^([a-z]\w*)\s*::`), lead: dashLead},
	"ocaml":   {function: regexp.MustCompile(`^(?:let(?:\s+rec)?|type|module)\s+([A-Za-z_]\w*)`), lead: regexp.MustCompile(`^\s*\(\*`)},
}

var (
	curlyRule = codeRule{container: curlyType, function: curly, lead: slashLead}
	wordRule  = codeRule{container: curlyType, function: keyword, lead: slashLead}
	shellRule = codeRule{function: regexp.MustCompile(`^\s*(?:function\s+([\w:-]+)|([\w:-]+)\s*\(\))`), lead: hashLead}
	// scriptRule also knows functions that are values, and methods by the brace behind their parameters.
	scriptRule = codeRule{
		container: regexp.MustCompile(`^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:class|interface|enum|namespace|module)\s+([\w$.]+)`),
		function: regexp.MustCompile(`^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)` +
			`|^(?:export\s+)?(?:const|let|var)\s+([\w$]+)[^=]*=\s*(?:async\s*)?(?:function\b|\([^)]*\)[^=]*=>|[\w$]+\s*=>)` +
			`|^(?:export\s+)?type\s+([\w$]+)` +
			`|^\s+(?:(?:static|async|get|set|public|private|protected|readonly|override|abstract)\s+)*\*?#?([\w$]+)\s*(?:<[^>]*>)?\([^;]*\)[^;=()]*\{\s*$`),
		lead: slashLead,
	}
)

// controls are words that look like the name of a function before a parenthesis, or its type.
var controls = stringSet("if", "for", "while", "switch", "catch", "return", "else", "do", "new", "throw", "case", "delete", "sizeof",
	"await", "yield", "typeof", "using", "lock", "foreach", "elif", "not", "assert", "goto", "in", "is", "when", "function")

// comment reports whether a line belongs to the definition below it. An annotation may stand on the line of what it
// belongs to.
func (r codeRule) comment(line string) bool {
	if r.lead == nil || !r.lead.MatchString(line) {
		return false
	}
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "@") {
		name, _ := r.define(line)
		return name == ""
	}
	return true
}

// maxCodeLine is how much of a line is looked at: machine-made code has lines of megabytes.
const maxCodeLine = 500

// define returns the name of what a line defines, "" if it defines nothing.
func (r codeRule) define(line string) (name string, container bool) {
	line = line[:min(len(line), maxCodeLine)]
	first, _, _ := strings.Cut(strings.TrimLeft(line, " \t}"), " ")
	first, _, _ = strings.Cut(first, "(")
	if controls[first] && first != "function" {
		return "", false
	}
	if r.container != nil {
		if name = lastGroup(r.container.FindStringSubmatch(line)); name != "" {
			return name, true
		}
	}
	if name = lastGroup(r.function.FindStringSubmatch(line)); controls[name] {
		name = ""
	}
	return strings.Trim(name, "\"`[]"), false
}

// lastGroup is the last group of a match that is not empty.
func lastGroup(m []string) string {
	for i := len(m) - 1; i > 0; i-- {
		if m[i] != "" {
			return strings.ToValidUTF8(m[i], "")
		}
	}
	return ""
}
