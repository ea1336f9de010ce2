package rag

import (
	"log/slog"
	"time"
)

// Option changes how [Open] builds an engine.
type Option func(*settings)

// settings is what options fill in; a nil provider is made from the config.
type settings struct {
	config       Config
	providers    *Providers
	logger       *slog.Logger
	now          func() time.Time
	catalog      Catalog
	loaders      []namedLoader
	ocr          OCR
	splitter     Splitter
	transformers []Transformer
	embedder     Embedder
	cache        EmbedCache
	chat         ChatModel
	vision       ChatModel
	getenv       func(name string) string
	vectors      VectorStore
	sparse       SparseIndex
	fuser        Fuser
	reranker     Reranker
	verifier     Verifier
	sink         TraceSink
	secrets      []string
	traceDir     string
	snapshot     bool
	lockWait     time.Duration

	queryTransformers []QueryTransformer // nil: the configured ones
}

type namedLoader struct {
	name string
	Loader
}

// WithConfig takes the choices from data; start from [DefaultConfig].
func WithConfig(c Config) Option { return func(s *settings) { s.config = c } }

// WithProviders looks names up in p instead of [Default].
func WithProviders(p *Providers) Option { return func(s *settings) { s.providers = p } }

// WithLogger gives the engine a logger; without it the engine is silent.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// WithClock replaces time.Now.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.now = now } }

// WithLockWait makes [Open] wait this long for another process that has the data open, before it is ErrLocked, and where
// processes share the data, calls that write wait for another that writes to the collection. Without it, that is told at once.
func WithLockWait(d time.Duration) Option { return func(s *settings) { s.lockWait = d } }

// WithCatalog uses this catalog.
func WithCatalog(c Catalog) Option { return func(s *settings) { s.catalog = c } }

// WithLoader adds a loader; its formats go before those of the registered loaders.
func WithLoader(name string, l Loader) Option {
	return func(s *settings) { s.loaders = append(s.loaders, namedLoader{name, l}) }
}

// WithOCR gives loaders of scanned pages this OCR.
func WithOCR(o OCR) Option { return func(s *settings) { s.ocr = o } }

// WithSplitter uses this splitter.
func WithSplitter(sp Splitter) Option { return func(s *settings) { s.splitter = sp } }

// WithTransformers uses these transformers, in order, instead of the configured ones.
func WithTransformers(ts ...Transformer) Option {
	return func(s *settings) { s.transformers = append([]Transformer{}, ts...) }
}

// WithEmbedder uses this embedder.
func WithEmbedder(e Embedder) Option { return func(s *settings) { s.embedder = e } }

// WithEmbedCache keeps vectors here across runs.
func WithEmbedCache(c EmbedCache) Option { return func(s *settings) { s.cache = c } }

// WithChatModel answers questions with this chat model, and gives it to providers that ask one, such as the reranker "llm".
func WithChatModel(m ChatModel) Option { return func(s *settings) { s.chat = m } }

// WithVisionModel gives providers that show a chat model pictures, such as the transformer "caption", this one; without it
// they ask the other.
func WithVisionModel(m ChatModel) Option { return func(s *settings) { s.vision = m } }

// WithGetenv lets providers look for keys that no setting gives in the environment, such as OPENAI_API_KEY; getenv is
// [os.Getenv] or reads names from elsewhere. Without it the engine reads no environment.
func WithGetenv(getenv func(name string) string) Option {
	return func(s *settings) { s.getenv = getenv }
}

// WithVectorStore uses this vector store.
func WithVectorStore(v VectorStore) Option { return func(s *settings) { s.vectors = v } }

// WithSparseIndex uses this sparse index.
func WithSparseIndex(x SparseIndex) Option { return func(s *settings) { s.sparse = x } }

// WithFuser uses this fuser.
func WithFuser(f Fuser) Option { return func(s *settings) { s.fuser = f } }

// WithReranker switches reranking on with this reranker.
func WithReranker(r Reranker) Option { return func(s *settings) { s.reranker = r } }

// WithQueryTransformers uses these query transformers, in order, instead of the configured ones.
func WithQueryTransformers(ts ...QueryTransformer) Option {
	return func(s *settings) { s.queryTransformers = append([]QueryTransformer{}, ts...) }
}

// WithVerifier has the citations of answers judged by v.
func WithVerifier(v Verifier) Option { return func(s *settings) { s.verifier = v } }

// WithTraceDir has the configured trace sink write below this folder, not below the data folder: a snapshot, which writes
// nothing there, then keeps traces too.
func WithTraceDir(dir string) Option { return func(s *settings) { s.traceDir = dir } }

// WithTraceSink records traces here.
func WithTraceSink(t TraceSink) Option { return func(s *settings) { s.sink = t } }

// WithSecrets names values that no trace may tell, besides those that the engine knows: the settings that stand under keys
// of secrets (key, token, secret, password, credential, authorization, headers), and what WithGetenv gave. Values of
// fewer than six bytes are not looked for.
func WithSecrets(values ...string) Option {
	return func(s *settings) { s.secrets = append(s.secrets, values...) }
}
