"""The ONNX Runtime engine of bench/models (see engine.go for what it answers).

Usage: python onnx.py MODEL.onnx THREADS. Needs: numpy, onnxruntime.
"""
import resource
import sys
import time

import numpy as np
import onnxruntime


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(work):
    start, before = time.perf_counter(), cpu()
    out = work()
    print(time.perf_counter() - start, cpu() - before, flush=True)
    return out


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def embed(s, ids):
    ones = np.ones_like(ids)
    feeds = {"input_ids": ids, "attention_mask": ones, "token_type_ids": ones * 0}
    x = s.run(None, {i.name: feeds[i.name] for i in s.get_inputs()})[0]
    v = x.mean(1) if x.ndim == 3 else x
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def main():
    model, threads = sys.argv[1], int(sys.argv[2])
    s = timed(lambda: session(model, threads))
    for line in sys.stdin:
        if line.strip() == "quit":
            with open("/proc/self/status") as status:
                print([1024 * int(part.split()[1]) for part in status if part.startswith("VmHWM:")][0], flush=True)
            return
        tokens, texts = map(int, line.split()[1:])
        i, j = np.arange(texts)[:, None], np.arange(tokens)[None, :]
        ids = (1000 + (i * 37 + j * 101) % 20000).astype(np.int64)
        timed(lambda: embed(s, ids))


if __name__ == "__main__":
    main()
