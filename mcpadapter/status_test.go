package mcpadapter_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/mcpadapter"
)

// Whatever shows a passage that a policy lets through says of one that is not known to be in force what it is.
func TestWhatIsNotInForceIsMarked(t *testing.T) {
	d, err := domain.Parse("fees.yaml", []byte("name: fees\nfields: {until: {type: date}}\nvalidity: {until: until, expired: flag}\n"))
	if err != nil {
		t.Fatal(err)
	}
	eng := engine(t)
	_, err = eng.Ingest(t.Context(), rag.IngestRequest{Collection: "fees", Domain: d, Sources: []rag.Sources{
		rag.Bytes("mem:old.md", []byte("---\nuntil: 2020-01-01\n---\n# Fee\n\nThe tuition fee is ninety pounds.\n")),
		rag.Bytes("mem:undated.md", []byte("# Deposit\n\nThe tuition deposit is twelve pounds.\n")),
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := connect(t, adapter(t, eng, mcpadapter.Options{Tools: []string{"hub", "docs", "course"}, Collection: "fees"}), nil)
	marked := func(name, text string) {
		t.Helper()
		for file, want := range map[string]string{"old.md": "expired", "undated.md": "needs review"} {
			for line := range strings.Lines(text) {
				if strings.Contains(line, file) && !strings.Contains(line, want) {
					t.Errorf("%s shows %s without %q: %s", name, file, want, line)
				}
			}
		}
		if !strings.Contains(text, "expired") {
			t.Errorf("%s does not show what is expired: %s", name, text)
		}
	}
	const question = "What is the tuition fee in pounds?"
	for _, name := range []string{"query_knowledge_hub", "search", "ask", "search_documents", "ask_question"} {
		text, _ := call(t, s, name, map[string]any{"query": question})
		marked(name, text)
	}
	p, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "answer_with_citations", Arguments: map[string]string{"question": question, "collection": "fees"}})
	if err != nil {
		t.Fatal(err)
	}
	marked("answer_with_citations", p.Messages[0].Content.(*mcp.TextContent).Text)
}
