#!/usr/bin/env python3
"""Write the reference values that package eval's metrics are compared with: by pytrec_eval (trec_eval's own C code), and by
ranx what trec_eval does not have, MRR with a cut and nDCG with exponential gain.

    python3 -m venv venv && venv/bin/pip install -r scripts/eval/requirements.txt
    venv/bin/python scripts/eval/golden.py generated eval/testdata/generated.json.gz
    venv/bin/python scripts/eval/golden.py set FOLDER RUN eval/testdata/scifact.json.gz

generated: 200 cases, each of its own seed, with ties, scores that differ only beyond 32 bits, graded and negative labels,
queries that were not ranked, queries that nobody judged, and documents that nobody judged.
set: a run (TREC's form) on a set with qrels.tsv, such as `rag eval beir FOLDER --variants sparse --runs DIR` writes.
"""
import gzip
import json
import random
import sys

import numpy
import pytrec_eval
import ranx

CUTS = (1, 3, 5, 10, 100)
MEASURES = {"map", "recip_rank", "ndcg"} | {f"{m}_{k}" for m in ("success", "recall", "P", "map_cut", "ndcg_cut") for k in CUTS}
NAMES = {"success": "hit", "recall": "recall", "P": "precision", "map_cut": "map", "ndcg_cut": "ndcg"}


def name(measure):
    """Our name of a measure of trec_eval."""
    if measure == "recip_rank":
        return "mrr"
    kind, _, cut = measure.rpartition("_")
    return f"{NAMES[kind]}@{cut}" if kind else measure


# What ranx measures, by our names.
RANX = {"ndcg_exp": "ndcg_burges"} | {f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in (("mrr", "mrr"), ("ndcg_exp", "ndcg_burges")) for k in CUTS}


def by_ranx(qrels, run):
    """Values of ranx. It orders ties as it likes and knows no negative grade: it gets scores that fall in trec_eval's order,
    by the score in 32 bits and then by the greater ID, and 0 for less."""
    both = sorted(q for q in run if any(g > 0 for g in qrels.get(q, {}).values()))
    if not both:
        return {}
    falling = {}
    for q in both:
        order = sorted(run[q], key=lambda d: (numpy.float32(run[q][d]), d), reverse=True)
        falling[q] = {d: float(len(order) - n) for n, d in enumerate(order)}
    relevant = {q: {d: max(0, g) for d, g in qrels[q].items()} for q in both}
    result = ranx.Run(falling)
    ranx.evaluate(ranx.Qrels(relevant), result, list(RANX.values()), return_mean=False)
    return {q: {ours: float(result.scores[theirs][q]) for ours, theirs in RANX.items()} for q in both}


def evaluate(qrels, run):
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES)
    more = by_ranx(qrels, run)
    values = evaluator.evaluate(run)
    return {q: dict(sorted(({name(m): v for m, v in ms.items()} | more.get(q, {})).items())) for q, ms in sorted(values.items())}


def case(seed):
    r = random.Random(seed)
    docs = [f"d{i}" for i in range(r.randint(1, 150))]
    grades = r.choice([(0, 1), (0, 0, 0, 1), (0, 1, 2, 3), (-1, 0, 1, 4)])
    qrels, run = {}, {}
    for i in range(r.randint(1, 4)):
        query = f"q{i}"
        qrels[query] = {d: r.choice(grades) for d in r.sample(docs, r.randint(1, len(docs)))}
        if r.random() < 0.15:
            continue  # judged, and not ranked
        ranked = r.sample(docs, r.randint(1, len(docs)))
        scale = r.choice([1, 3, 1000, None])  # few values make ties
        run[query] = {d: r.random() if scale is None else r.randint(0, scale) / 3 for d in ranked}
        if r.random() < 0.3:  # equal in 32 bits
            for n, d in enumerate(ranked):
                run[query][d] = 0.7 + n * 1e-12
    run["unjudged"] = {docs[0]: 1.0}
    return {"qrels": qrels, "run": run, "want": evaluate(qrels, run)}


def read_qrels(path):
    qrels = {}
    with open(path, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, doc, grade = line.rstrip("\n").split("\t")
            qrels.setdefault(query, {})[doc] = int(grade)
    return qrels


def read_run(path):
    run = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {})[doc] = float(score)
    return run


def write(path, cases):
    data = json.dumps(cases, separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(data, mtime=0))


def main(args):
    if args[:1] == ["generated"] and len(args) == 2:
        write(args[1], [case(seed) for seed in range(200)])
    elif args[:1] == ["set"] and len(args) == 4:
        qrels, run = read_qrels(args[1] + "/qrels.tsv"), read_run(args[2])
        ranked = {q: sorted(ds, key=lambda d: -ds[d]) for q, ds in run.items()}
        write(args[3], {"ranked": ranked, "want": evaluate(qrels, run)})
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
