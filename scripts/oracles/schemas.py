"""Random JSON schemas and values, and whether the package jsonschema accepts each value, as cases for tests of contracts."""
import json
import random

from jsonschema import Draft202012Validator, FormatChecker

NAMES = ["a", "b", "c", "id", "x y"]
FORMATS = {
    "date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "uuid": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "uri": "https://a.example/",
}
STRINGS = ["open", "closed", "", "other", *FORMATS.values()]
TYPES = ["string", "integer", "number", "boolean", "null", "object", "array"]


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def write(self, file, count):
        """Writes cases: a schema, values, and whether each value is valid, with each JSON as text."""
        cases = []
        while len(cases) < count:
            names = [f"d{index}" for index in range(self.random.randrange(3))]
            schema = self.schema(4, names)
            if not isinstance(schema, dict):
                continue
            # A reference to itself has no meaning.
            definitions = {name: self.object(3, names) for name in names}
            root = schema | {"$defs": definitions}
            validator = Draft202012Validator(root, format_checker=FormatChecker())
            values = [self.value(schema, root, 6) for _ in range(12)]
            cases.append({
                "schema": json.dumps(root), "values": [json.dumps(value) for value in values],
                "isValid": [validator.is_valid(value) for value in values],
            })
        file.write_text(json.dumps(cases))

    def schema(self, depth, names, in_all=False):
        """Returns a schema. In allOf it forbids no members, because a contract ignores that for those of the other part."""
        kinds = ["type", "types", "enum", "const", "format", "any"]
        if depth > 0:
            kinds += ["object", "object", "array", "nullable", "all"]
        if names and not in_all:
            kinds.append("reference")
        kind = self.random.choice(kinds)
        if kind == "type":
            return {"type": self.random.choice(TYPES[:5])}
        if kind == "types":
            return {"type": self.random.sample(TYPES, self.random.randrange(1, 4))}
        if kind == "enum":
            return {"enum": self.random.sample(["open", "closed", "other", None], 2)}
        if kind == "const":
            return {"const": "open"}
        if kind == "format":
            return {"type": "string", "format": self.random.choice(list(FORMATS))}
        if kind == "any":
            return self.random.choice([True, {}])
        if kind == "object":
            return self.object(depth - 1, names, in_all)
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1, names, in_all)}
        if kind == "nullable":
            return {"anyOf": [{"type": "null"}, self.schema(depth - 1, names, in_all)]}
        if kind == "all":
            return {"allOf": [self.object(depth - 1, names, True), self.object(depth - 1, names, True)]}
        return {"$ref": f"#/$defs/{self.random.choice(names)}"}

    def object(self, depth, names, in_all=False):
        members = self.random.sample(NAMES, self.random.randrange(4))
        schema = {"type": "object", "properties": {name: self.schema(depth, names, in_all) for name in members}}
        if self.random.random() < 0.6:
            schema["required"] = self.random.sample(NAMES, self.random.randrange(3))
        if not in_all and self.random.random() < 0.4:
            schema["additionalProperties"] = self.random.choice([False, self.schema(depth, names)])
        return schema

    def value(self, schema, root, depth):
        """Returns a value that is mostly valid."""
        if schema is True or schema == {} or depth <= 0 or self.random.random() < 0.08:
            return self.anything(2)
        if "$ref" in schema:
            return self.value(root["$defs"][schema["$ref"].split("/")[-1]], root, depth - 1)
        if "anyOf" in schema:
            return self.value(self.random.choice(schema["anyOf"]), root, depth - 1)
        if "allOf" in schema:
            parts = [self.value(part, root, depth - 1) for part in schema["allOf"]]
            return {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
        if "enum" in schema or "const" in schema:
            return self.random.choice(schema.get("enum") or [schema["const"]])
        kind = schema["type"] if isinstance(schema["type"], str) else self.random.choice(schema["type"])
        if kind == "object":
            value = {
                name: self.value(member, root, depth - 1) for name, member in schema.get("properties", {}).items()
                if name in schema.get("required", []) or self.random.random() < 0.6
            }
            for name in schema.get("required", []):
                value.setdefault(name, self.anything(1))
            if self.random.random() < 0.2:
                value[self.random.choice(NAMES)] = self.anything(1)
            return value
        if kind == "array":
            return [self.value(schema.get("items", True), root, depth - 1) for _ in range(self.random.randrange(3))]
        if kind == "string":
            return FORMATS.get(schema.get("format")) or self.random.choice(STRINGS)
        return self.random.choice({"integer": [0, -3, 1.0], "number": [1, 2.5, 1e3], "boolean": [True], "null": [None]}[kind])

    def anything(self, depth):
        kind = self.random.choice(["array", "object", "scalar", "scalar"] if depth > 0 else ["scalar"])
        if kind == "array":
            return [self.anything(depth - 1) for _ in range(self.random.randrange(3))]
        if kind == "object":
            return {self.random.choice(NAMES): self.anything(depth - 1) for _ in range(self.random.randrange(4))}
        return self.random.choice([None, True, False, 0, -3, 1.0, 2.5, 1e3, *STRINGS])
