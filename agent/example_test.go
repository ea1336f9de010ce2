package agent_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	_ "github.com/seed-d8745b77/rag/defaults"
)

func converse(ctx context.Context, engine *rag.Engine, question, followUp string) error {
	a, err := agent.New(engine, agent.Config{}) // AskAgent has the chat model search by itself; AskStream and AskAgentStream stream
	if err != nil {
		return err
	}
	session := a.NewSession() // or agent.NewSessions(a).Session(name), for many people
	for _, text := range []string{question, followUp} {
		answer, err := session.Ask(ctx, rag.AskRequest{Query: rag.Query{Text: text}})
		if err != nil {
			return err
		}
		fmt.Println(answer.Intent, answer.Text)
	}
	return nil
}

func Example() {
	ctx := context.Background()
	engine, err := rag.Open("") // nothing on disk
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	note := rag.Bytes("mem:///leave.md", []byte("# Leave\n\nEverybody has 28 days of annual leave a year.\n"))
	if _, err := engine.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{note}}); err != nil {
		fmt.Println(err)
		return
	}
	if err := converse(ctx, engine, "Hello!", "How many days of annual leave do I have?"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// chat Hello! What would you like to know?
	// search Everybody has 28 days of annual leave a year. [1]
}
