"""Indexes and asks a set with bm25s or tantivy: engines.py ENGINE SET.json FOLDER K wall|cpu. Prints what main.go calls an outcome."""

import json
import os
import sys
import time


clock = {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[5]]


def size(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def ask(queries, search):
    for q in queries:  # warm up
        search(q["text"])
    seconds, ranked = [], []
    for q in queries:
        start = clock()
        ids = search(q["text"])
        seconds.append(clock() - start)
        ranked.append(ids)
    return seconds, ranked


def run_tantivy(docs, queries, folder, k):
    import re

    import tantivy

    os.makedirs(folder)
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(schema.build(), path=folder)
    start = clock()
    writer = index.writer(num_threads=1)
    for d in docs:
        writer.add_document(tantivy.Document(id=[d["id"]], text=[d["text"]]))
    writer.commit()
    writer.wait_merging_threads()
    index_seconds = clock() - start
    index.reload()
    searcher = index.searcher()

    def search(text):
        words = " ".join(re.findall(r"\w+", text)).lower()
        if not words:
            return []
        query = index.parse_query(words, ["text"])
        return [searcher.doc(at)["id"][0] for _, at in searcher.search(query, k, count=False).hits]

    seconds, ranked = ask(queries, search)
    return index_seconds, seconds, ranked


def run_bm25s(docs, queries, folder, k):
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    start = clock()
    tokens = bm25s.tokenize([d["text"] for d in docs], stopwords="en", stemmer=stemmer, show_progress=False)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    index.save(folder)
    index_seconds = clock() - start

    def search(text):
        query = bm25s.tokenize(text, stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = index.retrieve(query, k=min(k, len(docs)), show_progress=False, n_threads=1)
        return [docs[i]["id"] for i in found[0]]

    seconds, ranked = ask(queries, search)
    return index_seconds, seconds, ranked


def main():
    engine, path, folder, k = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    run = {"tantivy": run_tantivy, "bm25s": run_bm25s}[engine]
    index_seconds, seconds, ranked = run(data["docs"], data["queries"], folder, k)
    json.dump({"index_seconds": index_seconds, "bytes": size(folder), "query_seconds": seconds, "ranked": ranked}, sys.stdout)


main()
