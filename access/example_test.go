package access_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag/access"
)

func Example() {
	tokens, err := access.ParseTokens([]byte(`[{"token": "a-long-random-text", "name": "alice", "filter": "tenant = red"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := access.NewKeys(tokens, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	grant, err := keys.Check(context.Background(), "a-long-random-text") // access.Bearer(r) of a request
	fmt.Println(grant.Principal.Name, grant.Principal.Filter, err)
	_, err = keys.Check(context.Background(), "another")
	fmt.Println(err)
	// Output:
	// alice tenant = "red" <nil>
	// the token is not valid
}
