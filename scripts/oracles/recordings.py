"""Public recordings of the GitHub API as HTTP archives: the cassettes of the tests of github3.py (BSD), from PyPI."""
import base64
import gzip
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import support

PACKAGE = "github3.py==4.0.1"
NAMES = ["GitHub_all_notifications"]


def folder():
    """Returns the folder with NAME.har for each of NAMES. Fetches the package the first time."""
    scratch = support.build_folder("recordings")
    if not all((scratch / f"{name}.har").exists() for name in NAMES):
        print(f"fetching {PACKAGE} into {scratch}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=scratch) as temporary:
            command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
            subprocess.run([*command, "--no-binary", "github3.py", "--dest", temporary, PACKAGE], check=True)
            with tarfile.open(next(pathlib.Path(temporary).glob("github3*.tar.gz"))) as archive:
                for member in archive:
                    path = pathlib.PurePath(member.name)
                    if path.parent.name == "cassettes" and path.stem in NAMES:
                        har = converted(json.load(archive.extractfile(member)))
                        (scratch / f"{path.stem}.har").write_text(json.dumps(har))
    return scratch


def converted(cassette):
    """Returns a cassette of betamax as an HTTP archive."""
    return {"log": {"entries": [entry(one) for one in cassette["http_interactions"]]}}


def entry(interaction):
    request, response = interaction["request"], interaction["response"]
    body = response["body"]
    data = base64.b64decode(body.get("base64_string") or "") or body["string"].encode()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return {
        "request": {"method": request["method"], "url": request["uri"]},
        "response": {"status": response["status"]["code"], "content": {"text": data.decode()}},
    }
