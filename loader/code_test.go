package loader_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newCode() rag.Loader { return must(loader.NewCode(loader.CodeConfig{})) }

func TestCodeSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newCode() },
		ragtest.Sample{Name: "a.go", Data: []byte("package a\n\n// Do does.\nfunc Do() {}\n"), Want: "# Do ```go // Do does. func Do() {} ```"},
		ragtest.Sample{Name: "a.py", Data: []byte("def f():\n    pass\n"), Want: "def f(): pass"})
}

// loadNamed is mustLoad for a source with a name.
func loadNamed(t testing.TB, l rag.Loader, name, data string) rag.Document {
	t.Helper()
	src := rag.Source{URI: "test:/" + name, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(data))), nil
	}}
	for doc, err := range l.Load(t.Context(), src) {
		if err != nil {
			t.Fatal(err)
		}
		if err := ragtest.CheckDocument(doc); err != nil {
			t.Error(err)
		}
		return doc
	}
	t.Fatal("no document")
	return rag.Document{}
}

func TestCodeText(t *testing.T) {
	doc := loadNamed(t, newCode(), "store.py", "# About\nimport os\n\nclass Store:\n    \"\"\"Keeps.\"\"\"\n\n    # Puts.\n    @slow\n    def put(self):\n        def inner(): pass\n        return 1\n\ndef main():\n    x = '''\n```\n'''\n")
	want := "```python\n# About\nimport os\n```\n\n# Store\n\n```python\nclass Store:\n    \"\"\"Keeps.\"\"\"\n```\n\n## Store.put\n\n```python\n    # Puts.\n    @slow\n    def put(self):\n        def inner(): pass\n        return 1\n```\n\n" +
		"# main\n\n````python\ndef main():\n    x = '''\n```\n'''\n````\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if doc.Title != "store.py" || doc.Meta["code"] != "python" {
		t.Errorf("title %q, meta %v", doc.Title, doc.Meta)
	}
}

func TestCodeSymbols(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"a.go", "package a\n\nimport \"x\"\n\n// T is.\ntype T[K any] struct{}\n\nfunc (t *T[K]) Do() { func() {}() }\n\nconst (\n\tA = 1\n\tB = 2\n)\n\nfunc F() {}\n", "1 T; 1 T.Do; 1 A; 1 F"},
		{"broken.go", "package a\n\ntype T struct{\n\nfunc F() {\n", "1 T; 1 F"},
		{"a.ts", "import x from 'y'\n/** Doc. */\nexport default class A extends B {\n  private n = 1;\n  constructor(a: string) {\n    if (a) {\n    }\n  }\n  async get(id: number): Promise<void> {\n  }\n}\nexport const f = async (x) => {\n}\nfunction g() {}\ntype U = string\n", "1 A; 2 A.constructor; 2 A.get; 1 f; 1 g; 1 U"},
		{"A.java", "package a;\n@Deprecated\npublic final class A<T> extends B {\n    private int n = f(1);\n    public A() {\n    }\n    /** Doc. */\n    @Override\n    public List<String> names(int a) throws E {\n        for (int i = 0; i < n; i++) {\n            g(i);\n        }\n        return new ArrayList<>();\n    }\n    enum K { X }\n}\n", "1 A; 2 A.A; 2 A.names; 2 A.K"},
		{"a.c", "#include <x.h>\nstruct s {\n\tint a;\n};\nstatic int f(int a)\n{\n\treturn g(a);\n}\nint h(void);\nchar *k(void) {\n\twhile (1) {\n\t}\n}\n", "1 s; 1 f; 1 k"},
		{"a.rs", "use x;\n#[derive(Debug)]\npub struct P { x: i32 }\nimpl<T> Show for P {\n    pub async fn show(&self) -> String {\n    }\n}\npub fn main() {}\n", "1 P; 1 P; 2 P.show; 1 main"},
		{"a.rb", "module M\n  class C < D\n    def self.make; end\n    def ok?\n    end\n  end\nend\n", "1 M; 2 M.C; 3 M.C.self.make; 3 M.C.ok?"},
		{"a.kt", "data class P(val a: Int) {\n    fun area(): Int = a\n}\nfun String.twice() = this\n", "1 P; 2 P.area; 1 twice"},
		{"a.php", "<?php\nclass A {\n    public function b($c) {\n    }\n}\n", "1 A; 2 A.b"},
		{"a.sh", "#!/bin/sh\n# Runs.\nrun() {\n  echo\n}\nfunction stop {\n}\n", "1 run; 1 stop"},
		{"a.sql", "-- People.\nCREATE TABLE IF NOT EXISTS people (\n  id int\n);\ncreate or replace function f() returns int\n", "1 people; 1 f"},
		{"a.proto", "message A {\n  message B {}\n}\nservice S {\n  rpc Get(A) returns (B);\n}\n", "1 A; 2 A.B; 1 S; 2 S.Get"},
		{"doc.py", "def f():\n    \"\"\"Use:\n\n    class Example:\n        def g(self): pass\n    \"\"\"\n\nS = '\"\"\"'  # \"\"\"\nT = \"\"\"\nclass No:\n\"\"\"\n\nclass A:\n    def h(self): pass\n", "1 f; 1 A; 2 A.h"},
		{"B.java", "/*\n  This class handles it.\n*/\nclass B {\n  @Override public String go() { return \"/*\"; }\n  String s = \"\"\"\n  class No {\n  \"\"\";\n}\ninterface Q { void q(); }\nclass Later;\n", "1 B; 2 B.go; 1 Q"},
		{"b.ts", "const s = `\nclass No {\n`;\n// it`s\nclass A {\n}\n", "1 A"},
		{"b.rs", "pub trait T { fn t(&self); }\nfn f<'a>(x: &'a str) {}\n", "1 T; 1 f"},
		{"a.yaml", "a: 1\nclass: 2\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := loadNamed(t, newCode(), tt.name, tt.code)
			var got []string
			for _, s := range doc.Sections {
				got = append(got, string(rune('0'+s.Level))+" "+s.Title)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("symbols (-want +got):\n%s\n%s", diff, doc.Text)
			}
			for line := range strings.Lines(tt.code) {
				if !strings.Contains(doc.Text, strings.TrimRight(line, "\n")) {
					t.Errorf("the line %q is lost", line)
				}
			}
		})
	}
}

func FuzzCode(f *testing.F) {
	f.Add("a.go", []byte("package a\nfunc F() {}\ntype T int; var V = 1\n"))
	for _, name := range []string{"a.py", "a.ts", "a.java", "a.rs", "a.hs", "a.sql", "a.sh"} {
		f.Add(name, []byte("class A {\n  def b(c) {\n\xff\n"))
	}
	l := newCode()
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		src := sourceOf(data)
		src.Name = name
		for doc, err := range l.Load(t.Context(), src) {
			if err == nil {
				if err := ragtest.CheckDocument(doc); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
