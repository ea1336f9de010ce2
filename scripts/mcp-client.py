"""The Python SDK of the protocol as a client of `rag serve mcp --tools hub,docs` over the handbook.

usage: mcp-client.py auto|legacy stdio COMMAND | http URL
"""

import asyncio
import sys

import mcp
import mcp_types as types
from mcp import Client, StdioServerParameters

failed = []


def check(name, ok, info=""):
    print(("ok   " if ok else "FAIL ") + name, info)
    if not ok:
        failed.append(name)


async def main():
    mode, kind, where = sys.argv[1:4]
    target = StdioServerParameters(command=where) if kind == "stdio" else where
    progress = []

    async def on_progress(done, total, message):
        progress.append(done)

    async with Client(target, mode=mode) as c:
        tools = {t.name: t for t in (await c.list_tools()).tools}
        check("tools", {"query_knowledge_hub", "list_collections", "get_document_summary", "search", "ask", "list_topics", "stats"} == set(tools))
        check("schemas and hints", all(t.output_schema and t.annotations.read_only_hint for t in tools.values()))

        # The client checks structured output against the schema of the tool.
        r = await c.call_tool("query_knowledge_hub", {"query": "how many days of annual leave?", "top_k": 3}, progress_callback=on_progress)
        check("structured output", len(r.structured_content["citations"]) == 3)
        check("text", "[1]" in r.content[0].text, r.content[0].text[:80])
        check("progress rises", len(progress) > 3 and progress == sorted(set(progress)), progress)
        r = await c.call_tool("ask", {"query": "how many days of annual leave do I get?"})
        check("answer", "27" in r.structured_content["answer"], r.structured_content["answer"][:80])
        for name in ("list_collections", "list_topics", "stats"):
            r = await c.call_tool(name, {})
            check(name, not r.is_error and r.structured_content)

        for args in ({"query": ""}, {"query": "x", "top_k": 21}, {"query": "x", "top_k": "5"}, {"query": "x", "colection": "y"}):
            r = await c.call_tool("query_knowledge_hub", args)
            check(f"refused: {args}", r.is_error, r.content[0].text)
        try:
            r = await c.call_tool("nope", {})
            check("unknown tool", r.is_error)
        except mcp.MCPError as e:
            check("unknown tool", e.error.code == -32602, e.error.message)

        resources = (await c.list_resources()).resources
        check("resources", len(resources) == 11)
        document = str(resources[1].uri)
        check("read", len((await c.read_resource(document)).contents[0].text) > 100)
        templates = (await c.list_resource_templates()).resource_templates
        check("templates", templates[0].uri_template == "rag://{collection}/{document}")
        try:
            await c.read_resource("rag://default/none")
            check("missing resource", False)
        except mcp.MCPError as e:
            check("missing resource", e.error.code == -32602, e.error.message)

        p = await c.get_prompt("answer_with_citations", {"question": "annual leave?"})
        check("prompt", "annual leave?" in p.messages[0].content.text)
        ref = types.PromptReference(type="ref/prompt", name="answer_with_citations")
        for typed, want in (("d", ["default"]), ("zzz", [])):
            k = await c.complete(ref, {"name": "collection", "value": typed})
            check(f"completion of {typed}", k.completion.values == want, k.completion.values)
        for _ in range(50):
            await c.call_tool("search", {"query": "leave"})
    print("failed: " + ", ".join(failed) if failed else "all passed")
    sys.exit(1 if failed else 0)


asyncio.run(main())
