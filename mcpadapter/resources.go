package mcpadapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
)

const (
	resourceScheme   = "rag://"
	collectionsURI   = resourceScheme + "collections"
	documentTemplate = resourceScheme + "{collection}/{document}"

	// listedPage is how many documents resources/list gives at once.
	listedPage = 100
	// maxDocument is the longest text that a resource gives, in bytes: what is longer no host reads.
	maxDocument = 1 << 20
	// documentCursor begins the cursors of resources/list that are ours.
	documentCursor = "document:"
)

// addResources offers the list of collections, and every document.
func (a *Adapter) addResources() {
	a.server.AddResource(&mcp.Resource{
		URI: collectionsURI, Name: "collections", Title: "Collections", MIMEType: "application/json", Description: "Collections with their sizes",
	}, a.reading(a.readCollections))
	a.server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: documentTemplate, Name: "document", Title: "Document", MIMEType: "text/markdown", Description: "The whole text of a document",
	}, a.reading(a.readDocument))
	a.server.AddReceivingMiddleware(a.listDocuments)
}

// seen runs a reader with the view of whoever asks.
func (a *Adapter) seen(ctx context.Context, extra *mcp.RequestExtra, use func(v *view) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.options.Logger.Error("panic", "panic", p)
			err = errors.New("internal error")
		}
	}()
	engine, done, err := a.data.Lend(ctx)
	if err != nil {
		return errors.New(sentence(err))
	}
	defer done()
	return use(a.views.get(engine, principalOf(extra)))
}

func (a *Adapter) reading(read func(ctx context.Context, v *view, uri string) (*mcp.ResourceContents, error)) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		var res mcp.ReadResourceResult
		err := a.seen(ctx, req.Extra, func(v *view) error {
			one, err := read(ctx, v, req.Params.URI)
			if errors.Is(err, rag.ErrNotFound) {
				return mcp.ResourceNotFoundError(req.Params.URI)
			}
			if err != nil {
				return errors.New(sentence(err))
			}
			res.Contents = []*mcp.ResourceContents{one}
			return nil
		})
		return &res, err
	}
}

func (a *Adapter) readCollections(ctx context.Context, v *view, uri string) (*mcp.ResourceContents, error) {
	r, err := runListCollections(ctx, &call{view: v, adapter: a})
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(r.data)
	return &mcp.ResourceContents{URI: uri, MIMEType: "application/json", Text: string(b)}, err
}

func (a *Adapter) readDocument(ctx context.Context, v *view, uri string) (*mcp.ResourceContents, error) {
	name, id := named("", uri)
	e, err := v.entry(ctx, name, id)
	if err != nil {
		return nil, err
	}
	doc, err := v.engine.Document(ctx, name, e.URI)
	if err != nil {
		return nil, err
	}
	text := doc.Text
	if len(text) > maxDocument {
		text = strings.ToValidUTF8(text[:maxDocument], "") + fmt.Sprintf("\n\n[%d bytes more are not shown]\n", len(text)-maxDocument)
	}
	return &mcp.ResourceContents{URI: uri, MIMEType: "text/markdown", Text: text}, nil
}

// listDocuments puts documents behind what resources/list gives: the SDK's own list is the same for everybody.
func (a *Adapter) listDocuments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(*mcp.ListResourcesParams)
		if method != "resources/list" || !ok {
			return next(ctx, method, req)
		}
		skip := 0
		if params != nil {
			if from, ours := strings.CutPrefix(params.Cursor, documentCursor); ours {
				var err error
				if skip, err = strconv.Atoi(from); err == nil && skip > 0 {
					params.Cursor = ""
				}
			}
		}
		res, err := next(ctx, method, req)
		list, ok := res.(*mcp.ListResourcesResult)
		if err != nil || !ok || list.NextCursor != "" {
			return res, err
		}
		if skip > 0 {
			list.Resources = []*mcp.Resource{} // they came first
		}
		err = a.seen(ctx, req.GetExtra(), func(v *view) error { return v.appendDocuments(ctx, list, skip) })
		return list, err
	}
}

// appendDocuments adds a page of documents, of all collections in order.
func (v *view) appendDocuments(ctx context.Context, list *mcp.ListResourcesResult, skip int) error {
	infos, err := v.engine.Collections(ctx)
	if err != nil {
		return err
	}
	at, full := 0, len(list.Resources)+listedPage
	for _, info := range infos {
		all, err := v.documents(ctx, info.Name)
		if err != nil {
			return err
		}
		for i := max(0, skip-at); i < len(all); i++ {
			if len(list.Resources) >= full {
				list.NextCursor = documentCursor + strconv.Itoa(at+i)
				return nil
			}
			e, err := v.engine.Entry(ctx, info.Name, all[i].uri)
			if errors.Is(err, rag.ErrNotFound) {
				continue // gone since
			}
			if err != nil {
				return err
			}
			list.Resources = append(list.Resources, &mcp.Resource{
				URI: resourceURI(info.Name, e.DocID), Name: fileName(e.URI), Title: title(e.Title, e.URI), MIMEType: "text/markdown",
			})
		}
		at += len(all)
	}
	return nil
}
