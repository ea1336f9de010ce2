package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Description returns the API's description in OpenAPI 3.1, as the server has it at /openapi.json. It is made from the
// routes and their types, so that it cannot say anything else than they do.
func Description() []byte {
	d := describer{schemas: map[string]any{}}
	paths := map[string]map[string]any{}
	for _, r := range routes() {
		if paths[r.path] == nil {
			paths[r.path] = map[string]any{}
		}
		paths[r.path][strings.ToLower(r.method)] = d.operation(r)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "rag", "version": "1", "description": "Passages and answers from documents. Every answer that is not 2xx is an Error."},
		"paths":   paths,
		"components": map[string]any{
			"schemas":         d.schemas,
			"securitySchemes": map[string]any{"bearer": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	})
	if err != nil { // plain data
		panic("httpapi: " + err.Error())
	}
	return b.Bytes()
}

// describer collects the schemas of types.
type describer struct{ schemas map[string]any }

func (d *describer) operation(r *route) map[string]any {
	op := map[string]any{"summary": r.about, "operationId": operationID(r), "responses": d.responses(r)}
	if r.need != nothing {
		op["security"] = []any{map[string]any{"bearer": []string{}}}
	}
	var params []any
	for _, p := range r.query {
		kind := "string"
		if p.whole {
			kind = "integer"
		}
		one := map[string]any{"name": p.name, "in": p.in, "required": p.required, "schema": map[string]any{"type": kind}}
		if p.about != "" {
			one["description"] = p.about
		}
		params = append(params, one)
	}
	if params != nil {
		op["parameters"] = params
	}
	if r.body != nil {
		content := map[string]any{"application/json": map[string]any{"schema": d.ref(r.body)}}
		if _, uploads := r.body.(ingesting); uploads {
			content["multipart/form-data"] = map[string]any{"schema": uploadForm()}
		}
		op["requestBody"] = map[string]any{"required": true, "content": content}
	}
	return op
}

// uploadForm describes an upload.
func uploadForm() any {
	text, flag := map[string]any{"type": "string"}, map[string]any{"type": "boolean"}
	return map[string]any{"type": "object", "required": []string{"file"}, "properties": map[string]any{
		"file":       map[string]any{"type": "array", "items": map[string]any{"type": "string", "format": "binary"}},
		"collection": text, "domain": text, "force": flag, "dry_run": flag,
	}}
}

func (d *describer) responses(r *route) map[string]any {
	content := map[string]any{}
	if r.answer != nil {
		content["application/json"] = map[string]any{"schema": d.ref(r.answer)}
	}
	if r.media != "" {
		one := map[string]any{}
		if r.events != nil {
			one["schema"] = map[string]any{"type": "string", "description": "server-sent events; x-events has their names and data"}
			one["x-events"] = d.events(r.events)
		}
		content[r.media] = one
	}
	failed := map[string]any{"description": "it cannot be done", "content": map[string]any{"application/json": map[string]any{"schema": d.ref(errorBody{})}}}
	return map[string]any{
		strconv.Itoa(r.status): map[string]any{"description": http.StatusText(r.status), "content": content},
		"default":              failed,
	}
}

func (d *describer) events(list []event) map[string]any {
	out := map[string]any{}
	for _, e := range list {
		out[e.name] = map[string]any{"description": e.about, "schema": d.ref(e.data)}
	}
	return out
}

// ref names the schema of a type, and describes it if it is new.
func (d *describer) ref(zero any) map[string]any {
	t := reflect.TypeOf(zero)
	name := schemaName(t)
	if d.schemas[name] == nil {
		s, err := jsonschema.ForType(t, nil)
		if err != nil {
			panic(fmt.Sprintf("httpapi: schema of %v: %v", t, err)) // a mistake of the type's
		}
		open(s)
		d.schemas[name] = s
	}
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// schemaName is the type's name as the description has it: resultForm is Result.
func schemaName(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "Form")
	return strings.ToUpper(name[:1]) + name[1:]
}

// open lets objects grow: a program that knows an older description must not refuse a newer answer. Lists are never null.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" && s.Items != nil {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.Type == "object" && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	open(s.Items)
	open(s.AdditionalProperties)
}

// operationID is the method and the path as one word: "getV1JobsId".
func operationID(r *route) string {
	id := strings.ToLower(r.method)
	for _, part := range strings.FieldsFunc(r.path, func(c rune) bool { return strings.ContainsRune("/{}.", c) }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func showOpenAPI(c *call) (any, error) {
	c.w.Header().Set("Content-Type", "application/json")
	_, _ = c.w.Write(c.description)
	return written{}, nil
}
