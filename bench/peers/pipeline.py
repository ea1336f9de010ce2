"""The Python side of bench/peers: LlamaIndex with Chroma, BM25, reciprocal rank fusion and a cross-encoder.

Usage: python pipeline.py ingest|ask MODELS STORE [FOLDER split|whole]. It does what the other side does, and speaks the same
protocol: ingest prints the number of passages, ask answers each line {"text", "rerank"} by one {"sources", "seconds"}, and
both print "peak_mb" in the end. The sizes are those of the systems that docs/systems.md is about: 20 candidates of each index, 10 fused with k = 60, 5 reranked.
"""
import json
import pathlib
import sys
import time

import chromadb
import numpy as np
import onnxruntime
from llama_index.core import Settings, SimpleDirectoryReader, StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.readers.base import BaseReader
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import Document, QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr
from tokenizers import Tokenizer

CANDIDATES, FUSED, KEPT = 20, 10, 5
PASSAGE, OVERLAP, WINDOW = 256, 40, 256  # tokens; the window is the embedder's
BATCH = 32
PAIR = 512  # tokens of question and passage together


class Model:
    """A BERT model in ONNX Runtime on all cores."""

    def __init__(self, folder, window):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(window, strategy="longest_first")
        self.tokenizer.enable_padding()
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])

    def run(self, texts):
        encoded = self.tokenizer.encode_batch(texts)
        mask = np.array([e.attention_mask for e in encoded], np.int64)
        feeds = {"input_ids": np.array([e.ids for e in encoded], np.int64), "attention_mask": mask,
                 "token_type_ids": np.array([e.type_ids for e in encoded], np.int64)}
        return self.session.run(None, feeds)[0], mask


class Embedder(BaseEmbedding):
    _model: Model = PrivateAttr()

    def __init__(self, folder):
        super().__init__(model_name="all-MiniLM-L6-v2", embed_batch_size=512)
        self._model = Model(folder, WINDOW)

    def _get_text_embeddings(self, texts):
        # Together with their like, as sentence-transformers does it, so that little is computed for padding.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        out = [None] * len(texts)
        for at in range(0, len(order), BATCH):
            part = order[at : at + BATCH]
            hidden, mask = self._model.run([texts[i] for i in part])
            v = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            for i, row in zip(part, v / np.linalg.norm(v, axis=1, keepdims=True)):
                out[i] = row.tolist()
        return out

    def _get_text_embedding(self, text):
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query):
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query):
        return self._get_text_embedding(query)


class CrossEncoder(BaseNodePostprocessor):
    _model: Model = PrivateAttr()

    def __init__(self, folder):
        super().__init__()
        self._model = Model(folder, PAIR)

    def _postprocess_nodes(self, nodes, query_bundle=None):
        logits, _ = self._model.run([(query_bundle.query_str, n.node.text) for n in nodes])
        for node, score in zip(nodes, logits[:, 0]):
            node.score = float(score)
        return sorted(nodes, key=lambda n: -n.score)[:KEPT]


class HTMLText(BaseReader):
    """The text of a page; LlamaIndex itself would index the tags."""

    def load_data(self, file, extra_info=None, **_):
        from bs4 import BeautifulSoup

        return [Document(text=BeautifulSoup(pathlib.Path(file).read_text(), "html.parser").get_text("\n", strip=True),
                         metadata=extra_info or {})]


def collection(store):
    client = chromadb.PersistentClient(str(store / "chroma"), settings=chromadb.Settings(anonymized_telemetry=False))
    return client.get_or_create_collection("default", metadata={"hnsw:space": "cosine"})


def passages(models, folder, whole):
    """Nodes of the files, whose only metadata is the path of the file, which no index sees."""
    read = SimpleDirectoryReader(folder, recursive=True, file_extractor={".html": HTMLText()},
                                 file_metadata=lambda path: {"source": pathlib.Path(path).relative_to(folder).as_posix()})
    docs = read.load_data()
    for d in docs:
        d.excluded_embed_metadata_keys = list(d.metadata)
    if whole:
        return [TextNode(text=d.text, metadata=d.metadata, excluded_embed_metadata_keys=list(d.metadata)) for d in docs]
    count = Tokenizer.from_file(str(models / "embedder" / "tokenizer.json"))
    split = SentenceSplitter(chunk_size=PASSAGE, chunk_overlap=OVERLAP, tokenizer=lambda text: count.encode(text, add_special_tokens=False).ids)
    return split.get_nodes_from_documents(docs)


def ingest(models, store, folder, whole):
    embedder = Embedder(models / "embedder")
    nodes = passages(models, folder, whole)
    context = StorageContext.from_defaults(vector_store=ChromaVectorStore(chroma_collection=collection(store)))
    VectorStoreIndex(nodes, storage_context=context, embed_model=embedder)
    BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=CANDIDATES).persist(str(store / "bm25"))
    print(json.dumps({"passages": len(nodes), "peak_mb": peak()}), flush=True)


def ask(models, store):
    embedder, reranker = Embedder(models / "embedder"), None
    index = VectorStoreIndex.from_vector_store(ChromaVectorStore(chroma_collection=collection(store)), embed_model=embedder)
    words = BM25Retriever.from_persist_dir(str(store / "bm25"))
    words.similarity_top_k = CANDIDATES
    fused = QueryFusionRetriever([index.as_retriever(similarity_top_k=CANDIDATES), words], mode="reciprocal_rerank",
                                 num_queries=1, similarity_top_k=FUSED, use_async=False)
    for line in sys.stdin:
        question = json.loads(line)
        start = time.perf_counter()
        query = QueryBundle(question["text"])
        nodes = fused.retrieve(query)
        if question["rerank"]:
            reranker = reranker or CrossEncoder(models / "reranker")
            nodes = reranker.postprocess_nodes(nodes, query_bundle=query)
        seconds = time.perf_counter() - start
        print(json.dumps({"sources": [n.node.metadata["source"] for n in nodes], "seconds": seconds}), flush=True)
    print(json.dumps({"peak_mb": peak()}), flush=True)


def peak():
    """The most memory that this process has had resident, in MB."""
    with open("/proc/self/status") as status:
        return [int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:")][0]


if __name__ == "__main__":
    Settings.llm = MockLLM()  # fusion wants one, and does not ask it
    verb, models, store = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if verb == "ingest":
        ingest(models, store, pathlib.Path(sys.argv[4]).resolve(), sys.argv[5] == "whole")
    else:
        ask(models, store)
