package httpapi

import (
	"net/http"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// Parameters that several routes have.
var (
	ofCollection = param{name: "collection", in: "query", about: "the server's own where it is missing"}
	ofDocument   = param{name: "uri", in: "query", about: "the document's URI", required: true}
	ofID         = param{name: "id", in: "path", required: true}
	pageLimit    = param{name: "limit", in: "query", about: "most of a page, 1 to 500; 50 where it is missing", whole: true}
	pageCursor   = param{name: "cursor", in: "query", about: "next of the page before"}
)

// routes are all there are, in the order in which they are described.
func routes() []*route {
	return slices.Concat(questionRoutes(), documentRoutes(), jobRoutes(), operatorRoutes())
}

func questionRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, path: "/v1/search", about: "Find passages by meaning and by words, best first", need: reader, works: true,
			body: question{}, status: 200, answer: resultForm{}, run: search,
		},
		{
			method: http.MethodPost, path: "/v1/ask", need: reader, works: true,
			about: "Answer a question from the documents, every statement with its source; with Accept: text/event-stream as it is made",
			body:  asking{}, status: 200, answer: answerForm{}, media: eventStream, run: ask,
			events: []event{
				{"stage", "the search begins, or a stage behind it; after extract the text begins anew", stageEvent{}},
				{"text", "the next piece of the answer's text", textEvent{}},
				{"answer", "the answer, whole", answerForm{}},
				{"error", "it failed, and nothing follows", errorBody{}},
				{"end", "nothing follows", endEvent{}},
			},
		},
		{
			method: http.MethodPost, path: "/v1/explain", about: "Tell where in a search one passage rose, fell or was lost, and what would have kept it",
			need: reader, works: true, body: explaining{}, status: 200, answer: rag.Explanation{}, run: explain,
		},
	}
}

func documentRoutes() []*route {
	return []*route{
		{
			method: http.MethodGet, path: "/v1/collections", about: "List the collections of which something may be seen", need: reader, works: true,
			status: 200, answer: collectionList{}, run: listCollections,
		},
		{
			method: http.MethodGet, path: "/v1/documents", about: "List documents by URI, page by page", need: reader, works: true,
			query:  []param{ofCollection, {name: "prefix", in: "query", about: "only URIs that begin so"}, pageLimit, pageCursor},
			status: 200, answer: documentList{}, run: listDocuments,
		},
		{
			method: http.MethodGet, path: "/v1/document", about: "Get a document with its text", need: reader, works: true,
			query: []param{ofDocument, ofCollection}, status: 200, answer: wholeDocument{}, run: getDocument,
		},
		{
			method: http.MethodDelete, path: "/v1/document", about: "Delete a document, with all that its source gave. The file itself stays", need: writer, works: true,
			query: []param{ofDocument, ofCollection}, status: 200, answer: rag.DeleteReport{}, run: deleteDocument,
		},
		{
			method: http.MethodGet, path: "/v1/document/chunks", about: "List the passages of a document in their order, page by page", need: reader, works: true,
			query: []param{ofDocument, ofCollection, pageLimit, pageCursor}, status: 200, answer: chunkList{}, run: documentChunks,
		},
		{
			method: http.MethodGet, path: "/v1/chunks/{id}", about: "Get a passage", need: reader, works: true,
			query: []param{ofID, ofCollection}, status: 200, answer: chunk{}, run: getChunk,
		},
		{
			method: http.MethodGet, path: "/v1/pictures/{id}", about: "Get the bytes of a picture that stands in a document", need: reader, works: true,
			query: []param{ofID, ofCollection}, status: 200, media: "image/*", run: getPicture,
		},
	}
}

func jobRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, path: "/v1/ingest", about: "Begin to ingest: files of the server, or files that are sent as multipart/form-data",
			need: writer, body: ingesting{}, status: 202, answer: job{}, run: ingest,
		},
		{
			method: http.MethodGet, path: "/v1/jobs", about: "List the jobs of whoever asks", need: reader,
			status: 200, answer: jobList{}, run: listJobs,
		},
		{
			method: http.MethodGet, path: "/v1/jobs/{id}", about: "Tell how far a job is", need: reader,
			query:  []param{ofID, {name: "after", in: "query", about: "only items that have changed behind this number (seq)", whole: true}},
			status: 200, answer: job{}, run: getJob,
		},
		{
			method: http.MethodGet, path: "/v1/jobs/{id}/events", about: "Follow a job until it has ended. Last-Event-ID goes on where a stream broke", need: reader,
			query: []param{ofID}, status: 200, media: eventStream, run: jobEvents,
			events: []event{{"change", "the job, and the items that have changed", job{}}, {"end", "nothing follows", endEvent{}}},
		},
		{
			method: http.MethodPost, path: "/v1/jobs/{id}/cancel", about: "End a job. What it has written stays, each document whole", need: reader,
			query: []param{ofID}, status: 202, answer: job{}, run: cancelJob,
		},
	}
}

func operatorRoutes() []*route {
	return []*route{
		{method: http.MethodGet, path: "/healthz", about: "Whether the process lives", status: 200, answer: health{}, run: healthz},
		{method: http.MethodGet, path: "/readyz", about: "Whether requests are well sent here", status: 200, answer: health{}, run: readyz},
		{
			method: http.MethodGet, path: "/metrics", about: "Counts and times as Prometheus reads them; only for who sees everything", need: owner,
			status: 200, media: "text/plain", run: showMetrics,
		},
		{method: http.MethodGet, path: "/openapi.json", about: "This description", status: 200, media: "application/json", run: showOpenAPI},
	}
}
