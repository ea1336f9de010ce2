# Reads files with one peer: a job as JSON comes on standard input, {path: {text, cpu, error}} goes to standard output.
import json
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")
answer = os.dup(1)
os.dup2(2, 1)  # what libraries print is not the answer


def pymupdf(path, password):
    import pymupdf

    with pymupdf.open(path) as doc:
        if password:
            doc.authenticate(password)
        return "\n".join(page.get_text() for page in doc)


def pymupdf4llm(path, password):
    import pymupdf
    import pymupdf4llm

    with pymupdf.open(path) as doc:
        if password:
            doc.authenticate(password)
        return pymupdf4llm.to_markdown(doc)


def markitdown(path, password):
    from markitdown import MarkItDown

    return MarkItDown().convert(path).text_content


def trafilatura(path, password):
    import trafilatura

    with open(path, "rb") as f:
        return trafilatura.extract(f.read(), include_tables=True, include_comments=False, output_format="markdown") or ""


def readability(path, password):
    import lxml.html
    import readability

    with open(path, "rb") as f:
        page = readability.Document(f.read()).summary()
    return spaced(lxml.html.fromstring(page))


def spaced(node):
    """The text below a node, with a line end around each block."""
    inline = {"a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var", "tt"}
    parts = []

    def visit(n):
        if not isinstance(n.tag, str) or n.tag in ("script", "style", "template", "noscript"):
            return
        parts.append("" if n.tag in inline else "\n")
        parts.append(n.text or "")
        for c in n:
            visit(c)
            parts.append(c.tail or "")
        parts.append("" if n.tag in inline else "\n")

    visit(node)
    return "".join(parts)


def maintext(path, password):
    """The reference: the main part of a page as its author marked it, without navigation within it and link marks."""
    import lxml.html

    with open(path, "rb") as f:
        root = lxml.html.fromstring(f.read())
    main = root.xpath("//main") + root.xpath("//*[@role='main']") + root.xpath("//article") + root.xpath("//body")
    main = max(main[:1], key=lambda n: len(n.text_content()))
    gone = ["headerlink", "viewcode-link", "mw-editsection", "mw-portlet", "vector-menu", "vector-dropdown", "navbox", "noprint", "vector-page-toolbar", "reference", "catlinks", "printfooter", "mw-cite-backlink", "sphinxsidebar", "related"]
    test = " or ".join(f"contains(concat(' ', normalize-space(@class), ' '), ' {c} ')" for c in gone)
    for n in main.xpath(f".//*[{test}] | .//nav | .//footer | .//button | .//select | .//header[not(.//h1)]"):
        n.drop_tree()
    lines = ["h:" + " ".join(spaced(n).split()) for n in main.xpath(".//h1|.//h2|.//h3|.//h4|.//h5|.//h6")]
    lines += ["c:" + line for n in main.xpath(".//pre") for line in n.text_content().split("\n")]
    lines += ["t:" + " ".join(spaced(n).split()) for n in main.xpath(".//td[not(.//table)]|.//th[not(.//table)]")]
    return "\n".join(lines) + "\ntext:\n" + spaced(main)


PEERS = {
    "pymupdf": pymupdf, "pymupdf4llm": pymupdf4llm, "markitdown": markitdown,
    "trafilatura": trafilatura, "readability": readability, "maintext": maintext,
}

job = json.load(sys.stdin)
read = PEERS[job["peer"]]
passwords = job.get("passwords") or {}
LONG = 2  # seconds after which a file is not read again
out = {}
try:
    read(job["paths"][0], passwords.get(job["paths"][0]))  # imports
except Exception:
    pass  # comes again below
for path in job["paths"]:
    best = {"text": "", "cpu": 0, "error": ""}
    try:
        for i in range(job["rounds"]):
            start = time.process_time()
            text = read(path, passwords.get(path))
            cpu = time.process_time() - start
            if i == 0 or cpu < best["cpu"]:
                best = {"text": text, "cpu": cpu, "error": ""}
            if cpu > LONG:
                break
    except Exception as e:  # a peer's failure is a result
        best["error"] = repr(e)[:300]
    out[path] = best
with os.fdopen(answer, "w") as f:
    json.dump(out, f)
