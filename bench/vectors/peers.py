"""Measures hnswlib, usearch and FAISS for `go run ./bench/vectors run`, which starts it and speaks with it by lines of JSON.

Needs a virtual environment:  python3 -m venv venv && venv/bin/pip install hnswlib usearch faiss-cpu numpy
"""

import json
import sys
import time

import faiss
import hnswlib
import numpy as np
from usearch.index import Index

DIMS, K = 384, 10
faiss.omp_set_num_threads(1)


class HNSWLib:
    def build(self, base, m, ef):
        self.index = hnswlib.Index(space="ip", dim=DIMS)
        self.index.init_index(max_elements=len(base), ef_construction=ef, M=m)
        self.index.add_items(base, num_threads=1)

    def search(self, queries, ef):
        self.index.set_ef(ef)
        return self.index.knn_query(queries, k=K, num_threads=1)[0]


class USearch:
    def __init__(self, dtype):
        self.dtype = dtype

    def build(self, base, m, ef):
        self.index = Index(ndim=DIMS, metric="cos", dtype=self.dtype, connectivity=m, expansion_add=ef)
        self.index.add(np.arange(len(base)), base, threads=1)

    def search(self, queries, ef):
        self.index.expansion_search = ef
        return self.index.search(queries, K, threads=1).keys


class FaissHNSW:
    def build(self, base, m, ef):
        self.index = faiss.IndexHNSWFlat(DIMS, m, faiss.METRIC_INNER_PRODUCT)
        self.index.hnsw.efConstruction = ef
        self.index.add(base)

    def search(self, queries, ef):
        self.index.hnsw.efSearch = ef
        return self.index.search(queries, K)[1]


class FaissFlat:
    def build(self, base, m, ef):
        self.index = faiss.IndexFlatIP(DIMS)
        self.index.add(base)

    def search(self, queries, ef):
        # One at a time: for many queries at once FAISS multiplies matrices.
        return np.concatenate([self.index.search(q[None], K)[1] for q in queries])


MAKE = {
    "hnswlib": HNSWLib,
    "usearch": lambda: USearch("f32"),
    "usearch i8": lambda: USearch("i8"),
    "faiss HNSW": FaissHNSW,
    "faiss flat": FaissFlat,
}


def read(path):
    return np.fromfile(path, dtype="<f4").reshape(-1, DIMS)


def main():
    engines = {}
    for line in sys.stdin:
        ask = json.loads(line)
        start = time.process_time()
        if "set" in ask:
            base, queries = read(ask["set"] + ".base.f32"), read(ask["set"] + ".query.f32")
            truth = np.fromfile(ask["set"] + ".truth.u32", dtype="<u4").reshape(-1, K)
            engines = {}
            answer = {}
        elif "build" in ask:
            engine = engines[ask["build"]] = MAKE[ask["build"]]()
            engine.build(base, ask["m"], ask["ef"])
            answer = {"seconds": time.process_time() - start}
        else:
            found = engines[ask["search"]].search(queries, ask["ef"])
            seconds = (time.process_time() - start) / len(queries)
            right = sum(len(np.intersect1d(a, b)) for a, b in zip(found, truth))
            answer = {"seconds": seconds, "recall": right / truth.size}
        print(json.dumps(answer), flush=True)


main()
