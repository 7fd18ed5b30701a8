#!/usr/bin/env python3
"""scripts/api_changes.py OLD NEW: what differs between two folders of symbol graphs, for scripts/check-api.

Prints additions and breaks. Ends with 1 when there is a break that no `- Breaking:` line of the changelog names.

A break is: a symbol that is gone or has another declaration, a conformance or a superclass that is gone, a requirement of
a protocol that is new and has no default, a new case of an enum. A parameter that is new and has a default value is none:
calls compile as before.
"""
import argparse
import glob
import json
import os
import re
import sys

IGNORED_PROTOCOLS = {"Swift.SendableMetatype", "Swift.Copyable", "Swift.Escapable", "Swift.BitwiseCopyable"}
ATTRIBUTES = re.compile(r"@(discardableResult|inlinable|inline\(\w+\)|usableFromInline|frozen|preconcurrency)\s*")


class Symbol:
    def __init__(self, module, symbol):
        self.module = module
        self.id = symbol["identifier"]["precise"]
        self.kind = symbol["kind"]["identifier"].removeprefix("swift.")
        self.path = tuple(symbol["pathComponents"])
        self.name = ".".join(self.path)
        text = "".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", []))
        self.text = ATTRIBUTES.sub("", " ".join(text.split()))
        extension = symbol.get("swiftExtension", {})
        self.constraints = sorted(
            f"{one['lhs']} {one['kind']} {one['rhs']}" for one in extension.get("constraints", [])
        )
        # Filled in from the relationships.
        self.requirement_of = None
        self.default_of = None
        self.is_inherited = "::SYNTHESIZED::" in self.id

    @property
    def declaration(self):
        where = f" [where {', '.join(self.constraints)}]" if self.constraints else ""
        return self.text + where

    @property
    def shape(self):
        """What must stay for the symbol to be the same to those who use it."""
        return self.kind, self.path, self.declaration, self.requirement_of is not None


class API:
    def __init__(self, folder):
        self.symbols = {}
        self.relations = {}
        self.names = {}
        graphs = []
        for path in sorted(glob.glob(os.path.join(folder, "*.symbols.json"))):
            with open(path, encoding="utf-8") as file:
                graphs.append(json.load(file))
        for graph in graphs:
            for symbol in graph["symbols"]:
                if symbol["kind"]["identifier"] == "swift.extension" or symbol["accessLevel"] not in ("public", "open"):
                    continue
                made = Symbol(graph["module"]["name"], symbol)
                self.symbols.setdefault(made.id, made)
        for graph in graphs:
            for link in graph["relationships"]:
                self.relate(link)
        self.shapes = {symbol.shape for symbol in self.symbols.values()}

    def relate(self, link):
        source = self.symbols.get(link["source"])
        if "sourceOrigin" in link and source:
            source.is_inherited = True
        if link["kind"] == "requirementOf" and source:
            source.requirement_of = link["target"]
        elif link["kind"] == "defaultImplementationOf" and source:
            source.default_of = link["target"]
        elif link["kind"] in ("conformsTo", "inheritsFrom"):
            target = link.get("targetFallback") or link["target"]
            known = self.symbols.get(link["target"])
            self.relations[(link["source"], link["target"])] = known.name if known else target

    def own(self):
        """The symbols that were written down, not those that a type has from a protocol."""
        return [symbol for symbol in self.symbols.values() if not symbol.is_inherited]

    def has_default(self, requirement):
        if requirement.kind == "associatedtype":
            return " = " in requirement.text
        return any(
            symbol.default_of == requirement.id and not foreign(symbol, requirement)
            for symbol in self.symbols.values()
        )


def foreign(default, requirement):
    """A default that only some types have: of a refining protocol, or under a condition."""
    return default.path[:-1] != requirement.path[:-1] or any("Self" in one for one in default.constraints)


# Declarations


def split(text, separator):
    """Splits at the separators that stand in no bracket and in no string."""
    parts, depth, start, index, quoted = [], 0, 0, 0, False
    while index < len(text):
        one = text[index]
        if one == '"':
            quoted = not quoted
        elif quoted:
            pass
        elif one in "([{<":
            depth += 1
        elif one in ")]}" or one == ">" and text[index - 1] != "-":
            depth -= 1
        elif one == separator and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    return parts + [text[start:]]


def parameters(declaration):
    """The text before the parameters, the parameters as (text, has a default), and the text behind. None without any."""
    head = re.match(r"[^(]*?(func \S+?|init[?!]?|subscript)(<[^(]*>)?\(", declaration)
    if not head:
        return None
    start, depth = head.end(), 1
    for index in range(start, len(declaration)):
        depth += {"(": 1, ")": -1}.get(declaration[index], 0)
        if depth == 0:
            break
    inside = declaration[start:index]
    listed = []
    for one in split(inside, ",") if inside.strip() else []:
        text, *default = split(one.strip().replace("==", "\0"), "=")
        listed.append((text.strip(), bool(default)))
    return head.group(0), listed, declaration[index:]


def stored(declaration):
    """A property without the way it is kept, and whether it can be set. None when it is no property."""
    found = re.fullmatch(r"(.*?)\b(let|var) ([^{]*?)(?: \{ (.*) \})?", declaration)
    if not found or "func " in found.group(1):
        return None
    before, word, rest, accessors = found.groups()
    effects = [effect for effect in ("async", "throws") if accessors and effect in accessors.split()]
    is_set = word == "var" and (accessors is None or "set" in accessors.split())
    return (before, rest, effects), is_set


def is_compatible(old, new):
    """Whether what was written for the old declaration compiles with the new one."""
    if old.kind != new.kind or old.constraints != new.constraints or bool(old.requirement_of) != bool(new.requirement_of):
        return False
    if old.text == new.text:
        return True
    if old.requirement_of:  # whoever conforms wrote the old one
        return False
    one, other = stored(old.text), stored(new.text)
    if one and other:
        return one[0] == other[0] and one[1] <= other[1]
    one, other = parameters(old.text), parameters(new.text)
    if not one or not other or one[0] != other[0] or one[2] != other[2]:
        return False
    rest = list(other[1])
    for text, has_default in one[1]:
        while rest and rest[0][0] != text and rest[0][1]:
            rest.pop(0)
        if not rest or rest[0][0] != text or has_default and not rest[0][1]:
            return False
        rest.pop(0)
    return all(has_default for _, has_default in rest)


# Comparison


def base(symbol):
    return symbol.path[:-1] + (symbol.path[-1].split("(")[0],)


def compare(old, new):
    added, breaks = [], []
    fresh = [
        symbol for symbol in new.own() if symbol.id not in old.symbols and symbol.shape not in old.shapes
    ]
    paired = set()
    gone = {symbol.path for symbol in old.own() if symbol.id not in new.symbols and symbol.kind in TYPES}
    gone -= {symbol.path for symbol in new.own()}

    for symbol in sorted(old.own(), key=lambda one: (one.module, one.name)):
        same = new.symbols.get(symbol.id)
        if same:
            if symbol.shape != same.shape and not is_compatible(symbol, same):
                breaks.append(("changed", symbol, f"{symbol.declaration}\n      now: {same.declaration}"))
            continue
        if symbol.shape in new.shapes or any(symbol.path[:count] in gone for count in range(1, len(symbol.path))):
            continue
        twins = [one for one in fresh if base(one) == base(symbol) and one.id not in paired]
        extended = next((one for one in twins if is_compatible(symbol, one)), None)
        if extended:
            paired.add(extended.id)
            added.append(("extended", extended, f"{extended.declaration}\n      was: {symbol.declaration}"))
            continue
        twin = next((one for one in twins if bool(one.requirement_of) == bool(symbol.requirement_of)), None)
        if twin:
            paired.add(twin.id)
            breaks.append(("changed", symbol, f"{symbol.declaration}\n      now: {twin.declaration}"))
        else:
            breaks.append(("removed", symbol, symbol.declaration))

    old_paths = {symbol.path for symbol in old.own()}
    for symbol in sorted(fresh, key=lambda one: (one.module, one.name)):
        if symbol.id in paired:
            continue
        if symbol.requirement_of in old.symbols and not new.has_default(symbol):
            breaks.append(("a requirement without a default", symbol, symbol.declaration))
        elif symbol.kind == "enum.case" and symbol.path[:-1] in old_paths:
            breaks.append(("a new case, which a switch does not have", symbol, symbol.declaration))
        elif not any(symbol.path[:count] in {one.path for one in fresh} for count in range(1, len(symbol.path))):
            added.append(("added", symbol, symbol.declaration))

    for (source, target), name in sorted(old.relations.items()):
        symbol = new.symbols.get(source)
        if symbol and (source, target) not in new.relations and name not in IGNORED_PROTOCOLS:
            breaks.append((f"conforms no more to {name}", symbol, symbol.declaration))
    for identifier, symbol in old.symbols.items():  # a requirement that stays and whose default goes
        still = new.symbols.get(identifier)
        if symbol.requirement_of and still and old.has_default(symbol) and not new.has_default(still):
            breaks.append(("a requirement whose default is gone", still, still.declaration))
    return added, breaks


TYPES = {"struct", "class", "enum", "protocol", "actor", "typealias"}


def announced(path):
    """What the lines `- Breaking:` of the section "Unreleased" have in backticks."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return set()
    section = re.search(r"^## \[?Unreleased\]?.*?$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^- Breaking:.*(?:\n  .*)*", section.group(1), re.MULTILINE) if section else []
    return {name for line in lines for name in re.findall(r"`([^`]+)`", line)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--since", default="the other revision")
    parser.add_argument("--changelog", default="CHANGELOG.md")
    options = parser.parse_args()

    old, new = API(options.old), API(options.new)
    if not old.symbols or not new.symbols:
        sys.exit("api_changes: a folder has no symbols")
    added, breaks = compare(old, new)
    allowed = announced(options.changelog)
    if added:
        print(f"additions since {options.since}:")
        for what, symbol, text in added:
            print(f"  {what}: {symbol.module}, {symbol.name}\n      {text}")
    unannounced = 0
    if breaks:
        print(f"breaks since {options.since}:")
        for what, symbol, text in breaks:
            note = " (announced in the changelog)" if symbol.name in allowed else ""
            unannounced += not note
            print(f"  {what}: {symbol.module}, {symbol.name}{note}\n      {text}")
    print(f"check-api: {len(added)} additions, {len(breaks)} breaks since {options.since}, {unannounced} not announced")
    if unannounced:
        print("Name each in a line `- Breaking: ...` of CHANGELOG.md, in backticks, or keep it as it was.", file=sys.stderr)
    sys.exit(1 if unannounced else 0)


main()
