#!/usr/bin/env python3
"""scripts/multipart_oracles.py FOLDER: each form of FOLDER, read by parsers that are not ours, is what forms.json says."""
import base64
import email.parser
import email.policy
import io
import json
import os
import shutil
import subprocess
import sys

import multipart
from werkzeug.formparser import MultiPartParser

# What stands for these characters in names, by HTML's multipart/form-data. Some parsers undo all of it, some a part, some
# nothing, so names are compared with it undone.
ESCAPES = (("\r", "%0D"), ("\n", "%0A"), ('"', "%22"))

NODE = r"""
const fs = require('fs'), path = require('path');
const folder = process.argv[1];
(async () => {
  for (const form of JSON.parse(fs.readFileSync(path.join(folder, 'forms.json')))) {
    const body = fs.readFileSync(path.join(folder, form.body));
    let parts;
    try {
      const data = await new Response(body, { headers: { 'Content-Type': form.contentType } }).formData();
      parts = [];
      for (const [name, value] of data) {
        const isFile = typeof value !== 'string';
        const bytes = isFile ? Buffer.from(await value.arrayBuffer()) : Buffer.from(value);
        parts.push([name, isFile ? value.name : null, isFile ? value.type : null, bytes.toString('base64')]);
      }
    } catch (error) { parts = String(error); }
    console.log(JSON.stringify(parts));
  }
})();
"""


def unescaped(text):
    for character, escape in ESCAPES:
        text = text and text.replace(escape, character)
    return text


def comparable(parts, sort):
    """The parts with names undone; sorted for a parser that keeps fields and files apart."""
    parts = [(unescaped(name), unescaped(filename), kind, content) for name, filename, kind, content in parts]
    return sorted(parts, key=repr) if sort else parts


def by_werkzeug(body, boundary, _):
    parts = []
    parser = MultiPartParser(max_form_memory_size=None)
    fields, files = parser.parse(io.BytesIO(body), boundary.encode(), len(body))
    for name, value in fields.items(multi=True):
        parts.append((name, None, None, value.encode()))
    for name, file in files.items(multi=True):
        parts.append((name, file.filename, file.content_type, file.read()))
    return parts


def by_multipart(body, boundary, _):
    limit = len(body) + 1
    parser = multipart.MultipartParser(
        io.BytesIO(body), boundary, len(body), disk_limit=limit, memfile_limit=limit, memory_limit=limit,
        spool_limit=limit, strict=True)
    return [(p.name, p.filename, p.content_type if p.filename is not None else None, p.raw) for p in parser]


def by_email(body, _, content_type):
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    parts = []
    for part in message.get_payload() if message.is_multipart() else []:
        # It knows no UTF-8 in parameters: the field as it stands, taken apart here.
        raw = dict(part.raw_items())["Content-Disposition"].encode("utf-8", "surrogateescape").decode()
        _, _, rest = raw.partition('name="')
        name, _, rest = rest.partition('"')
        _, found, rest = rest.partition('filename="')
        filename = rest.rpartition('"')[0] if found else None
        kind = dict(part.raw_items()).get("Content-Type") if filename is not None else None
        parts.append((name, filename, kind, part.get_payload(decode=True)))
    return parts


def main(folder):
    with open(os.path.join(folder, "forms.json")) as file:
        forms = json.load(file)
    node = shutil.which("node")
    theirs = None
    if node:
        run = subprocess.run([node, "-e", NODE, folder], capture_output=True, text=True, check=True, timeout=600)
        theirs = [json.loads(line) for line in run.stdout.splitlines()]
    else:
        print("multipart-oracles: no node here, three parsers are left", file=sys.stderr)
    passed = failed = 0
    for index, form in enumerate(forms):
        with open(os.path.join(folder, form["body"]), "rb") as file:
            body = file.read()
        boundary = form["contentType"].partition("boundary=")[2]
        wanted = [
            (p["name"], p.get("fileName"), p.get("contentType"), base64.b64decode(p["content"]))
            for p in form["parts"]
        ]
        results = {}
        for parser in (by_werkzeug, by_multipart, by_email):
            try:
                results[parser.__name__] = parser(body, boundary, form["contentType"])
            except Exception as error:  # whatever a parser says of a form is its verdict
                results[parser.__name__] = repr(error)
        if theirs:
            found = theirs[index]
            results["by_node"] = found if isinstance(found, str) else [
                (n, f, t, base64.b64decode(c)) for n, f, t, c in found]
        for name, result in results.items():
            sort = name == "by_werkzeug"
            expected = comparable(wanted, sort)
            if not isinstance(result, str) and comparable(result, sort) == expected:
                passed += 1
                continue
            failed += 1
            if failed < 6:
                print(f"{form['body']} {name}:\n  {str(result)[:600]}\n  {str(expected)[:600]}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
