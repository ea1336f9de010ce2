package cli

import (
	"github.com/spf13/pflag"

	"github.com/seed-d8745b77/rag/access"
)

// callerFlags say who may call a server, and from where.
type callerFlags struct {
	tokens         string
	jwt            access.JWT
	hosts, origins []string
}

// add makes the flags; the first word of each is when.
func (f *callerFlags) add(flags *pflag.FlagSet, when string) {
	flags.StringVar(&f.tokens, "tokens", "", when+"file of bearer tokens (JSON), each with a name and what it may see")
	flags.StringVar(&f.jwt.JWKS, "jwks", "", when+"URL or file of the keys that sign bearer tokens (JWT)")
	flags.StringVar(&f.jwt.Issuer, "jwt-issuer", "", "who must have issued them")
	flags.StringVar(&f.jwt.Audience, "jwt-audience", "", "whom they must be meant for")
	flags.StringToStringVar(&f.jwt.Claims, "jwt-claim", nil, "FIELD=CLAIM: only documents whose metadata field has the claim's value are seen")
	flags.StringArrayVar(&f.hosts, "host", nil, when+"name by which the server may be called; needed behind a gateway")
	flags.StringArrayVar(&f.origins, "origin", nil, when+"web page that may call, such as https://app.example")
}

// keys are the tokens that are taken, which are noted as secrets; jwt is nil without signed ones.
func (f *callerFlags) keys(known *secrets) (tokens []access.Token, jwt *access.JWT, err error) {
	if f.tokens != "" {
		if tokens, err = access.LoadTokens(f.tokens); err != nil {
			return nil, nil, err
		}
		for _, t := range tokens {
			known.add(t.Value)
		}
	}
	if f.jwt.JWKS != "" {
		jwt = &f.jwt
	}
	return tokens, jwt, nil
}
