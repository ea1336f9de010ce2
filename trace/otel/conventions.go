package otel

import (
	"net"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// SchemaURL is the version of the conventions that names and units follow: those for generative AI of 1.42.0, the first of
// the repository open-telemetry/semantic-conventions-genai. All of them have the status "development".
const SchemaURL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

// Attributes of the conventions. The Go module has no constants for them since they moved out of its repository.
const (
	keyOperation     = attribute.Key("gen_ai.operation.name")
	keyProvider      = attribute.Key("gen_ai.provider.name")
	keyModel         = attribute.Key("gen_ai.request.model")
	keyStream        = attribute.Key("gen_ai.request.stream")
	keyTopK          = attribute.Key("gen_ai.request.top_k")
	keyFinishReasons = attribute.Key("gen_ai.response.finish_reasons")
	keyFirstChunk    = attribute.Key("gen_ai.response.time_to_first_chunk") // seconds
	keyInputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	keyOutputTokens  = attribute.Key("gen_ai.usage.output_tokens")
	keyTokenType     = attribute.Key("gen_ai.token.type")
	keyDataSource    = attribute.Key("gen_ai.data_source.id")
	keyDocuments     = attribute.Key("gen_ai.retrieval.documents")
	keyQueryText     = attribute.Key("gen_ai.retrieval.query.text")
	keyDimensions    = attribute.Key("gen_ai.embeddings.dimension.count")
	keyAgent         = attribute.Key("gen_ai.agent.name")
	keyTool          = attribute.Key("gen_ai.tool.name")
	keyToolType      = attribute.Key("gen_ai.tool.type")
	keyArguments     = attribute.Key("gen_ai.tool.call.arguments")
	keyResult        = attribute.Key("gen_ai.tool.call.result")
	keyErrorType     = attribute.Key("error.type")
	keyServer        = attribute.Key("server.address")
	keyPort          = attribute.Key("server.port")
)

// Values of gen_ai.operation.name.
const (
	opRetrieval  = "retrieval"
	opEmbeddings = "embeddings"
	opChat       = "chat"
	opAgent      = "invoke_agent"
	opTool       = "execute_tool"
)

// Attributes of our own.
const (
	keyTrace      = attribute.Key("rag.trace.id")
	keyCollection = attribute.Key("rag.collection")
	keyRAG        = attribute.Key("rag.operation") // the trace's type
	keyMode       = attribute.Key("rag.mode")
	keyHits       = attribute.Key("rag.hits")
	keySources    = attribute.Key("rag.ingest.sources")
	keyStage      = attribute.Key("rag.stage")
	keyMethod     = attribute.Key("rag.stage.method")
	keyStatus     = attribute.Key("rag.stage.status")
	keyIn         = attribute.Key("rag.stage.in")
	keyOut        = attribute.Key("rag.stage.out")
	keyReason     = attribute.Key("rag.reason")
	keyOutcome    = attribute.Key("rag.outcome")
	keyOrigin     = attribute.Key("rag.origin")
	keyChunk      = attribute.Key("rag.chunk.id")
	keyURI        = attribute.Key("rag.uri")
	keyScore      = attribute.Key("rag.score")

	// Ranks are 1-based; absent where the chunk was not in that list, or the trace does not tell.
	keyRankDense  = attribute.Key("rag.rank.dense")
	keyRankSparse = attribute.Key("rag.rank.sparse")
	keyRankFused  = attribute.Key("rag.rank.fused")
	keyRankRerank = attribute.Key("rag.rank.rerank")
	keyRankFinal  = attribute.Key("rag.rank.final") // of a hit
)

// Events.
const (
	eventRank = "rag.rank" // of a search: a passage with its ranks
	eventNote = "rag.note" // a stage did less than was asked
)

// failureOther is the conventions' value of error.type for what has no kind.
const failureOther = "_OTHER"

// agentName names this project where the conventions want to know who runs an agent.
const agentName = "rag"

// services maps our providers that call a service to the conventions' names; "" is one that these have no name for.
var services = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "azure": "azure.ai.openai", "mistral": "mistral_ai", "cohere": "cohere",
	"deepseek": "deepseek", "groq": "groq", "ollama": "", "openrouter": "", "vllm": "", "lm-studio": "",
}

// model is who does an operation of a model.
type model struct {
	provider, name string
	host           string // "" where no service is asked, or not known
	port           int
	remote         bool
}

// modelOf reads the provider and the model's name. The name of a chat model is its fingerprint, "openai/gpt-4o@host:443".
func modelOf(provider, name string) model {
	standard, remote := services[provider]
	m := model{provider: provider, name: name, remote: remote}
	if standard != "" {
		m.provider = standard
	}
	rest, ok := strings.CutPrefix(name, provider+"/")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return m
	}
	m.name, m.host, m.remote = rest[:at], rest[at+1:], true
	m.port = 443
	if host, port, err := net.SplitHostPort(m.host); err == nil {
		m.host = host
		m.port, _ = strconv.Atoi(port)
	}
	return m
}

// attributes are those that spans and metrics of the operation share.
func (m model) attributes(operation string) []attribute.KeyValue {
	kv := []attribute.KeyValue{keyOperation.String(operation), keyProvider.String(m.provider)}
	if m.name != "" {
		kv = append(kv, keyModel.String(m.name))
	}
	if m.host != "" {
		kv = append(kv, keyServer.String(m.host), keyPort.Int(m.port))
	}
	return kv
}
