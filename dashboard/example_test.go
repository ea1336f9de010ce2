package dashboard_test

import (
	"net/http"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/dashboard"
	"github.com/seed-d8745b77/rag/trace"
)

func serve(addr, dir string, yourLogin func(http.Handler) http.Handler) error {
	eng, err := rag.Open(dir)
	if err != nil {
		return err
	}
	defer eng.Close()
	dash, err := dashboard.New(eng, dashboard.Options{BasePath: "/rag", Traces: trace.NewIndex(dir)})
	if err != nil {
		return err
	}
	defer dash.Close()
	mux := http.NewServeMux()
	mux.Handle("/rag/", yourLogin(dash))
	return http.ListenAndServe(addr, mux)
}

func Example() {
	_ = serve("127.0.0.1:8080", "kb", func(next http.Handler) http.Handler { return next })
}
