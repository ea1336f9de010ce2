package rag_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// Every number of the configuration says which values make sense, and others keep an engine from being opened.
func TestEveryNumberHasARange(t *testing.T) {
	for _, section := range []string{"Retrieval", "Answer", "Ingest"} {
		for i := range reflect.ValueOf(rag.Config{}).FieldByName(section).NumField() {
			c := rag.DefaultConfig()
			group, _ := reflect.TypeFor[rag.Config]().FieldByName(section)
			field, value := group.Type.Field(i), reflect.ValueOf(&c).Elem().FieldByName(section).Field(i)
			for _, x := range []int64{-2, 1 << 50} {
				switch {
				case value.CanInt():
					value.SetInt(x)
				case value.CanFloat():
					value.SetFloat(float64(x))
				default:
					continue
				}
				key := group.Tag.Get("json") + "." + field.Tag.Get("json")
				_, err := rag.Open("", rag.WithConfig(c))
				var wrong *rag.ConfigError
				if !errors.As(err, &wrong) || wrong.Key != key || !errors.Is(err, rag.ErrInvalid) {
					t.Errorf("%s = %d: error %v, want a ConfigError with this key", key, x, err)
				}
			}
		}
	}
	if f, _ := reflect.TypeFor[rag.RetrievalConfig]().FieldByName("TopK"); !strings.HasSuffix(f.Tag.Get("range"), ",10000]") || rag.MaxTopK != 10000 {
		t.Errorf("MaxTopK is %d, the range %s", rag.MaxTopK, f.Tag.Get("range"))
	}
}

func TestSettingsOfNoProvider(t *testing.T) {
	var c rag.Config
	c.LLM.Settings = json.RawMessage(`{"model": "m"}`)
	if _, err := rag.Open("", rag.WithConfig(c)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "llm: there are settings, and no provider is named") {
		t.Errorf("error %v", err)
	}
}

func TestInConfig(t *testing.T) {
	wrong := errors.New("wrong")
	for _, tt := range []struct {
		err  error
		want string
		key  string // "": no ConfigError
	}{
		{wrong, "llm: wrong", ""},
		{&rag.ConfigError{Err: wrong}, "llm: wrong", "llm"},
		{&rag.ConfigError{Key: "a.b", Err: wrong}, "llm.a.b: wrong", "llm.a.b"},
	} {
		got := rag.InConfig("llm", tt.err)
		inside, is := errors.AsType[*rag.ConfigError](got)
		if got.Error() != tt.want || !errors.Is(got, wrong) || is != (tt.key != "") || is && inside.Key != tt.key {
			t.Errorf("%v: %v", tt.err, got)
		}
	}
	if rag.InConfig("llm", nil) != nil {
		t.Error("no error became one")
	}
}
