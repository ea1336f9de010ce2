package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/httpapi"
)

func Example() {
	data := access.Folder("", true, nil) // "" keeps nothing on disk
	defer data.Close()
	api, err := httpapi.New(data, httpapi.Options{Write: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer api.Close()
	server := httptest.NewServer(api) // an http.Handler
	defer server.Close()
	reply, err := http.Get(server.URL + "/healthz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reply.Body.Close()
	fmt.Println(reply.Status)
	// Output: 200 OK
}
