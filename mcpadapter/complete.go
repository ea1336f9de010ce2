package mcpadapter

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
)

// maxCompletions is what the protocol allows.
const maxCompletions = 100

// complete proposes values of arguments of prompts and of the template of documents: collections, documents, and conditions
// on metadata. Each principal is shown what it may see.
func (a *Adapter) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var all []string
	typed := req.Params.Argument.Value
	collection := a.options.Collection
	if c := req.Params.Context; c != nil && c.Arguments["collection"] != "" {
		collection = c.Arguments["collection"]
	}
	err := a.seen(ctx, req.Extra, func(v *view) (err error) {
		switch req.Params.Argument.Name {
		case "collection":
			all, err = v.collectionNames(ctx)
		case "document":
			all, err = v.documentIDs(ctx, collection)
		case "filter":
			all, err = v.filters(ctx, collection)
		}
		return err
	})
	if err != nil {
		a.options.Logger.Debug("completion", "err", err) // nothing to propose is no failure
	}
	values := []string{}
	for _, s := range all {
		if begins(s, typed) || begins(strings.ReplaceAll(s, `"`, ""), typed) { // quotes are not always typed
			values = append(values, s)
		}
	}
	shown := values[:min(len(values), maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: shown, Total: len(values), HasMore: len(shown) < len(values)}}, nil
}

// begins reports whether a text begins with what was typed, in any case of letters.
func begins(s, typed string) bool {
	return len(s) >= len(typed) && strings.EqualFold(s[:len(typed)], typed)
}

func (v *view) collectionNames(ctx context.Context) (names []string, err error) {
	infos, err := v.engine.Collections(ctx)
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return names, err
}

func (v *view) documentIDs(ctx context.Context, collection string) (ids []string, err error) {
	all, err := v.documents(ctx, collection)
	for _, d := range all {
		ids = append(ids, d.id)
	}
	return ids, err
}

// maxScanned bounds how many passages a completion looks at: whoever types does not wait.
const maxScanned = 20_000

// filters are those of one condition each, of values that the metadata of the collection has.
func (v *view) filters(ctx context.Context, collection string) ([]string, error) {
	return v.conditions.get(ctx, v.engine, collection, func() ([]string, error) {
		seen := map[string]bool{}
		scanned := 0
		for c, err := range v.engine.Chunks(ctx, collection, rag.Filter{}) {
			if err != nil {
				return nil, err
			}
			if scanned++; scanned > maxScanned {
				break
			}
			for field, value := range c.Meta {
				list, ok := value.([]string)
				if !ok {
					seen[rag.Eq(field, value).String()] = true
				}
				for _, one := range list {
					seen[rag.Eq(field, one).String()] = true
				}
			}
		}
		return slices.Sorted(maps.Keys(seen)), nil
	})
}
