"""Records what the official clients send for one conversation and one batch of texts: the golden requests of llm and embed.

Run in the project's root, in a virtual environment with what clients.txt lists:

    pip install -r scripts/llm/clients.txt
    python scripts/llm/record.py
"""
import base64, http.server, json, pathlib, threading

import anthropic, ollama, openai

seen = {}


class Recorder(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        keep = ("authorization", "api-key", "x-api-key", "anthropic-version", "anthropic-beta", "content-type")
        seen.update(path=self.path, headers={k.lower(): v for k, v in self.headers.items() if k.lower() in keep}, body=body)
        self.send_response(400)
        self.end_headers()
        self.wfile.write(b'{"error": "recorded"}')

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"


def record(room, name, call):
    seen.clear()
    try:
        for _ in call() or ():
            pass
    except Exception:  # the recorder answers with an error
        pass
    assert seen, name
    out = pathlib.Path(room, "testdata", "official", name + ".json")
    out.write_text(json.dumps(seen, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
params = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
png = b"\x89PNG\r\n\x1a\n"
b64 = base64.b64encode(png).decode()

messages = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": [
        {"type": "text", "text": "What is this? é"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + b64}},
    ]},
    {"role": "assistant", "content": "Let me look.", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"ferry"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "A ferry."},
]
tools = [{"type": "function", "function": {"name": "search", "description": "Finds passages.", "parameters": params}}]
form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}

chat = dict(messages=messages, tools=tools, response_format=form, temperature=0, stream=True, stream_options={"include_usage": True})
one = openai.OpenAI(api_key="sk-canary-1234567890", base_url=base + "/v1", max_retries=0)
record("llm", "openai", lambda: one.chat.completions.create(model="gpt-x", max_tokens=50, **chat))
azure = openai.AzureOpenAI(api_key="sk-canary-1234567890", azure_endpoint=base, api_version="2024-10-21", max_retries=0)
record("llm", "azure", lambda: azure.chat.completions.create(model="gpt-x", max_completion_tokens=50, **chat))
record("embed", "openai", lambda: one.embeddings.create(model="e", input=["a", "b"], dimensions=3, encoding_format="float"))
record("embed", "azure", lambda: azure.embeddings.create(model="e", input=["a", "b"], dimensions=3, encoding_format="float"))

claude = anthropic.Anthropic(api_key="sk-canary-1234567890", base_url=base, max_retries=0)
record("llm", "anthropic", lambda: claude.messages.create(
    model="claude-x", max_tokens=50, system="Be short.", stream=True,
    tools=[{"name": "search", "description": "Finds passages.", "input_schema": params}],
    output_config={"format": {"type": "json_schema", "schema": schema}},
    messages=[
        {"role": "user", "content": [
            {"type": "text", "text": "What is this? é"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64}}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "ferry"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "A ferry."}]},
    ]))

llama = ollama.Client(host=base)
record("llm", "ollama", lambda: llama.chat(
    model="llama-x", stream=True, format=schema, tools=tools, options={"temperature": 0, "num_predict": 50, "num_ctx": 8192},
    messages=[
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "What is this? é", "images": [png]},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [{"function": {"name": "search", "arguments": {"q": "ferry"}}}]},
        {"role": "tool", "content": "A ferry.", "tool_name": "search"},
    ]))
record("embed", "ollama", lambda: llama.embed(model="e", input=["a", "b"], truncate=False, dimensions=3))
