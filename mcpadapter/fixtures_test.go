package mcpadapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

// The protocol's conformance suite calls tools, resources and prompts of its own names. With this in the environment the test
// binary is a server that has them, at the address given, and no test run: scripts/mcp-conformance starts it. What the adapter
// can say by itself (text, pictures, progress, log, errors) goes through its own code, and so does every request over HTTP.
const fixturesAt = "RAG_MCP_FIXTURES"

func TestMain(m *testing.M) {
	if at := os.Getenv(fixturesAt); at != "" {
		if err := serveFixtures(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serveFixtures(at string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "mcp-fixtures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := rag.DefaultConfig()
	config.Embedder.Provider = rag.None
	engine, err := rag.Open(dir, rag.WithConfig(config))
	if err != nil {
		return err
	}
	defer engine.Close()
	a, err := withFixtures(engine)
	if err != nil {
		return err
	}
	h, err := a.Handler(HTTPOptions{})
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving http://%s/mcp\n", ln.Addr())
	return access.Serve(ctx, ln, h, access.Grace)
}

// withFixtures is an adapter that offers what the suite asks for besides its own tools.
func withFixtures(engine *rag.Engine) (*Adapter, error) {
	a, err := New(access.Fixed(engine), Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return nil, err
	}
	o := a.serverOptions() // the suite needs subscriptions, which the adapter does not offer
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	a.server = mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1"}, o)
	if err := a.offer(); err != nil {
		return nil, err
	}
	for _, t := range ownFixtures() {
		if err := a.add(t); err != nil {
			return nil, err
		}
	}
	addToolFixtures(a.server)
	addInputFixtures(a.server)
	addResourceFixtures(a.server)
	addPromptFixtures(a.server)
	return a, nil
}

// said is the data of fixtures.
type said struct {
	OK bool `json:"ok"`
}

// ownFixtures are tools as the adapter has them.
func ownFixtures() []*tool {
	fixture := func(name string, run func(c *call) (*reply, error)) *tool {
		return &tool{name: name, title: name, about: aFixture, out: said{}, run: func(_ context.Context, c *call) (*reply, error) { return run(c) }}
	}
	return []*tool{
		fixture("test_simple_text", func(*call) (*reply, error) {
			return &reply{text: "This is a simple text response for testing.", data: said{true}}, nil
		}),
		fixture("test_image_content", func(*call) (*reply, error) {
			p, err := scaled(dot(), "image/png")
			return &reply{text: "A dot.", data: said{true}, pictures: []picture{p}}, err
		}),
		fixture("test_tool_with_logging", func(c *call) (*reply, error) {
			for _, s := range []string{"started", "processing", "completed"} {
				c.notes = append(c.notes, rag.Note{Stage: "test", Reason: s})
			}
			return &reply{text: "Logged.", data: said{true}}, nil
		}),
		fixture("test_tool_with_progress", func(c *call) (*reply, error) {
			for _, s := range []string{"one", "two", "three"} {
				c.begun(s)
			}
			return &reply{text: "Done.", data: said{true}}, nil
		}),
		fixture("test_error_handling", func(*call) (*reply, error) {
			return nil, errors.New("this tool intentionally returns an error for testing")
		}),
	}
}

// dot is a picture.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// silence is a sound without samples.
const silence = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func addResourceFixtures(s *mcp.Server) {
	read := func(mediaType, text string, blob []byte) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			one := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: mediaType, Text: strings.ReplaceAll(text, "{id}", id), Blob: blob}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{one}}, nil
		}
	}
	s.AddResource(&mcp.Resource{URI: "test://static-text", Name: "static-text", MIMEType: "text/plain"}, read("text/plain", "This is the content of the static text resource.", nil))
	s.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "static-binary", MIMEType: "image/png"}, read("image/png", "", dot()))
	s.AddResource(&mcp.Resource{URI: "test://watched-resource", Name: "watched-resource", MIMEType: "text/plain"}, read("text/plain", "Watched resource content", nil))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		read("application/json", `{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}`, nil))
}

func addPromptFixtures(s *mcp.Server) {
	add := func(name string, arguments []string, content func(given map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: aFixture}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			res := &mcp.GetPromptResult{}
			for _, c := range content(req.Params.Arguments) {
				res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return res, nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: "This is a simple prompt for testing."}}
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(given map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", given["arg1"], given["arg2"])}}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(given map[string]string) []mcp.Content {
		return []mcp.Content{embedded(given["resourceUri"]), &mcp.TextContent{Text: "Please process the embedded resource above."}}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: dot(), MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."}}
	})
}

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}
