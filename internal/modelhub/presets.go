package modelhub

// Builtin is the name of the model that is part of the program.
const Builtin = "builtin"

// Texts of checks: two tokens; a sentence; several scripts, and words that are in no vocabulary.
const (
	checkWords    = "hello world"
	checkSentence = "Payment is due within thirty days of delivery."
	checkScripts  = "Où se trouve la clé de la salle n° 12 ? Überall 合同 is unknown here, and 3.14159 is not."
)

// rounded is the tolerance where the reference is of rounded weights, since no others were at hand: twice what rounding
// was measured to move a component by. It tells another model from the published one, and no more.
const rounded = 0.06

// presets holds the known models. Revisions, sizes and digests are those of the repositories; TestPresets checks the
// table's form, and the tests of the providers what it says of the models at hand.
var presets = []Card{
	{
		Name: Builtin, Title: "all-MiniLM-L6-v2-int8", Task: TaskEmbed, License: "Apache-2.0",
		Pooling: PoolingMean, MaxTokens: 256, Dims: 384, Languages: []string{"en"},
		// Of scripts/models/reference.py, the matrices and the word table rounded as the quantiser does.
		Checks: []Check{
			{Text: checkWords, Want: []float64{-0.034973, 0.030164, 0.012870, 0.025239, -0.037555, -0.159140, 0.069257, -0.010952, -0.044358, 0.017731, 0.070335, 0.055168}},
			{Text: checkSentence, Want: []float64{0.016780, 0.027063, 0.040329, -0.043682, -0.028304, -0.039009, -0.046769, -0.040984, -0.013357, 0.100523, 0.080035, -0.072551}},
			{Text: checkScripts, Want: []float64{-0.014735, -0.024481, -0.026959, -0.047583, -0.112914, 0.031584, -0.042067, 0.023199, -0.012058, -0.067914, 0.107194, -0.016807}},
		},
	},
	{
		Name: "all-minilm-l6", Title: "all-MiniLM-L6-v2", Task: TaskEmbed, License: "Apache-2.0",
		Repository: "sentence-transformers/all-MiniLM-L6-v2", Revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
		Files: []File{
			{ConfigFile, 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
			{TokenizerFile, 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
			{WeightsFile, 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
		},
		Pooling: PoolingMean, MaxTokens: 256, Dims: 384, Languages: []string{"en"},
		// Of scripts/models/reference.py.
		Checks: []Check{
			{Text: checkWords, Want: []float64{-0.034477, 0.031023, 0.006735, 0.026109, -0.039362, -0.160302, 0.066924, -0.006441, -0.047451, 0.014759, 0.070875, 0.055528}},
			{Text: checkSentence, Want: []float64{0.018489, 0.029207, 0.039581, -0.043569, -0.027848, -0.041091, -0.049120, -0.041214, -0.013422, 0.098422, 0.081744, -0.071757}},
			{Text: checkScripts, Want: []float64{-0.015063, -0.022644, -0.030268, -0.046610, -0.111135, 0.029810, -0.046510, 0.022372, -0.010318, -0.069125, 0.107312, -0.015611}},
		},
	},
	{
		Name: "bge-small-en", Title: "bge-small-en-v1.5", Task: TaskEmbed, License: "MIT",
		Repository: "BAAI/bge-small-en-v1.5", Revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
		Files: []File{
			{ConfigFile, 743, "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750"},
			{TokenizerFile, 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"},
			{WeightsFile, 133_466_304, "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad"},
		},
		QuestionPrefix: "Represent this sentence for searching relevant passages: ",
		Pooling:        PoolingCLS, MaxTokens: 512, Dims: 384, Languages: []string{"en"},
		// Of fastembed's tests, whose weights are rounded to 16 bits.
		Checks: []Check{{
			Text: checkWords, Want: []float64{0.01522374, -0.02271799, 0.00860278, -0.07424029, 0.00386434}, Within: 5e-3,
		}},
	},
	{
		// No digests of this repository were at hand: the first pull records them.
		Name: "e5-small", Title: "e5-small-v2", Task: TaskEmbed, License: "MIT",
		Repository: "intfloat/e5-small-v2", Revision: "ffb93f3bd4047442299a41ebb6fa998a38507c52",
		QuestionPrefix: "query: ", PassagePrefix: "passage: ",
		Pooling: PoolingMean, MaxTokens: 512, Dims: 384, Languages: []string{"en"},
		// Of scripts/models/golden_presets.py, from weights of eight bits.
		Checks: []Check{
			{Text: checkWords, Within: rounded, Want: []float64{-0.0085, 0.0692, 0.0341, 0.0070, -0.0190, -0.0124, 0.0646, -0.0816, 0.0009, 0.0427, 0.0564, 0.0149}},
			{Text: checkSentence, Within: rounded, Want: []float64{-0.0774, 0.0747, 0.0254, -0.0198, -0.0025, -0.0019, 0.0432, -0.0424, -0.0011, 0.0346, 0.0504, -0.0545}},
			{Text: checkScripts, Within: rounded, Want: []float64{-0.0661, 0.0293, 0.0444, -0.0340, -0.0218, 0.0557, 0.0337, -0.0556, -0.0203, 0.0352, 0.0796, -0.0421}},
		},
	},
	{
		Name: "multilingual-e5-small", Title: "multilingual-e5-small", Task: TaskEmbed, License: "MIT",
		Repository: "intfloat/multilingual-e5-small", Revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
		Files: []File{
			{ConfigFile, 655, "69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959"},
			{TokenizerFile, 17_082_730, "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"},
			{WeightsFile, 470_641_600, "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477"},
		},
		QuestionPrefix: "query: ", PassagePrefix: "passage: ",
		Pooling: PoolingMean, MaxTokens: 512, Dims: 384, // about a hundred languages
		// Of scripts/models/golden_presets.py, from weights in blocks of four bits.
		Checks: []Check{
			{Text: checkWords, Within: rounded, Want: []float64{0.0337, 0.0234, -0.0403, -0.0590, 0.0801, -0.0351, 0.0112, 0.0675, 0.0347, 0.0028, 0.0579, 0.0305}},
			{Text: checkSentence, Within: rounded, Want: []float64{0.0093, -0.0037, -0.0376, -0.0629, 0.0634, -0.0106, -0.0240, 0.0421, 0.1112, 0.0142, 0.0272, 0.0205}},
			{Text: checkScripts, Within: rounded, Want: []float64{0.0244, -0.0281, -0.0682, -0.0075, 0.1091, -0.0759, -0.0207, 0.0765, 0.0563, -0.0463, 0.0399, -0.0265}},
		},
	},
	{
		Name: "ms-marco-minilm-l6", Title: "ms-marco-MiniLM-L6-v2", Task: TaskRerank, License: "Apache-2.0",
		Repository: "cross-encoder/ms-marco-MiniLM-L6-v2", Revision: "233902d25c440f23af6f7d6e94d2946bac0bee0a",
		Files: []File{
			{ConfigFile, 794, "380e02c93f431831be65d99a4e7e5f67c133985bf2e77d9d4eba46847190bacc"},
			{TokenizerFile, 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"},
			{WeightsFile, 90_870_598, "821d1aa69520101d6e0737f78a042ae25b19e5cb9160701909d10434f4aeb0ae"},
		},
		MaxTokens: 512, Languages: []string{"en"},
		// Of the model's card.
		Checks: []Check{
			{
				Text: "How many people live in Berlin?",
				Pair: "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers.",
				Want: []float64{8.607138},
			},
			{Text: "How many people live in Berlin?", Pair: "Berlin is well known for its museums.", Want: []float64{-4.320078}},
		},
	},
	{
		Name: "bge-reranker-base", Title: "bge-reranker-base", Task: TaskRerank, License: "MIT",
		Repository: "BAAI/bge-reranker-base", Revision: "2cfc18c9415c912f9d8155881c133215df768a70",
		Files: []File{
			{ConfigFile, 799, "289adf7ada1eb6b4afa7589a48a032d45a076cf2e46dcdb3b4cabc33be14f708"},
			{TokenizerFile, 17_098_107, "9eb652ac4e40cc093272bbbe0f55d521cf67570060227109b5cdc20945a4489e"},
			{WeightsFile, 1_112_206_140, "ced967c45fd1902eb92716c9ceeca7c95a936770ea9db611f5a841b926e33fbd"},
		},
		MaxTokens: 512, Languages: []string{"en", "zh"},
		// Of fastembed's tests.
		Checks: []Check{
			{Text: "What is the capital of France?", Pair: "Paris is the capital of France.", Want: []float64{6.15733337}},
			{Text: "What is the capital of France?", Pair: "Berlin is the capital of Germany.", Want: []float64{-3.65939403}},
		},
	},
	{
		Name: "bge-m3", Task: TaskEmbed, Repository: "BAAI/bge-m3",
		Unsupported: "24 layers of 1024 dimensions over 8192 tokens take 2.2 GB and some thirty times the work of a small model, and its lexical and token vectors would stay unused; use multilingual-e5-small",
	},
	{
		Name: "bge-reranker-v2-m3", Task: TaskRerank, Repository: "BAAI/bge-reranker-v2-m3",
		Unsupported: "24 layers of 1024 dimensions take 2.2 GB and seconds for each pair without a graphics card; use bge-reranker-base",
	},
	{
		Name: "nomic-embed-text", Task: TaskEmbed, Repository: "nomic-ai/nomic-embed-text-v1.5",
		Unsupported: "it rotates positions and gates its feed-forward net, which the encoder does not know; use bge-small-en",
	},
	{
		Name: "embeddinggemma-300m", Task: TaskEmbed, Repository: "google/embeddinggemma-300m",
		Unsupported: "it is a decoder turned round, not an encoder of the BERT family; use multilingual-e5-small",
	},
}
