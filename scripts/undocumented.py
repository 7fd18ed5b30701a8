#!/usr/bin/env python3
"""Names the public symbols without a doc comment in the symbol graphs given, and fails if there are any.

What satisfies a protocol's requirement (`==`, `hash(into:)`, `description`) needs none of its own: it has the protocol's.
"""
import json
import os
import sys
from urllib.parse import unquote, urlparse


def undocumented(graph):
    inherited = {link["source"] for link in graph["relationships"] if "sourceOrigin" in link}
    for symbol in graph["symbols"]:
        identifier = symbol["identifier"]["precise"]
        if (
            symbol["accessLevel"] in ("public", "open")
            and symbol["kind"]["identifier"] != "swift.extension"
            and "::SYNTHESIZED::" not in identifier
            and identifier not in inherited
            and not "".join(line["text"] for line in symbol.get("docComment", {}).get("lines", [])).strip()
        ):
            yield symbol


def place(symbol):
    if "location" not in symbol:
        return "(no file)", 0
    location = symbol["location"]
    return os.path.relpath(unquote(urlparse(location["uri"]).path)), location["position"]["line"] + 1


found = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        found += [(*place(symbol), ".".join(symbol["pathComponents"])) for symbol in undocumented(json.load(file))]
for file, line, name in sorted(found):
    print(f"{file}:{line}: {name} has no doc comment", file=sys.stderr)
sys.exit(1 if found else 0)
