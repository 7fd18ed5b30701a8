"""The modules of the package by its manifest, and the graphs of their public symbols."""
import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Module:
    """A target that users of the package build."""

    name: str
    folder: str
    dependencies: list
    is_product: bool

    @property
    def is_swift(self):
        return not os.path.isdir(ROOT / self.folder / "include")

    @property
    def catalog(self):
        """The folder of the module's articles, or None without articles."""
        path = f"{self.folder}/{self.name}.docc"
        return path if os.path.isdir(ROOT / path) else None


@functools.cache
def modules(root=ROOT):
    """Returns the modules of the library products with their dependencies, each after its own dependencies."""
    command = ["swift", "package", "dump-package"]
    manifest = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout)
    targets = {target["name"]: target for target in manifest["targets"]}
    products = {name for product in manifest["products"] for name in product["targets"]}
    found = {}

    def add(name):
        if name in found or name not in targets:
            return
        dependencies = [
            (one.get("byName") or one.get("target") or [None])[0] for one in targets[name].get("dependencies", [])]
        for one in dependencies:
            add(one)
        folder = targets[name].get("path") or f"Sources/{name}"
        found[name] = Module(name, folder, [one for one in dependencies if one in targets], name in products)

    for product in manifest["products"]:
        for name in product["targets"]:
            add(name)
    return list(found.values())


def tests_of(path):
    """Returns the files of tests for a changed Swift file. A test file stands for itself, a helper for all tests of its target or
    targets, and a source for those of the nearest folder that mirrors its own."""
    def tests(folder, pattern="**/*.swift"):
        return sorted(file for file in folder.glob(pattern) if "@Test" in file.read_text(encoding="utf-8"))

    kind, module, *folders = path.parts[:-1]
    if module == "SwitchboardTestSupport":
        return tests(ROOT / kind, "*Tests/**/*.swift")
    if kind == "Tests":
        folder = ROOT / kind / module
        found = tests(folder)
        return [ROOT / path] if ROOT / path in found and "Support" not in path.parts else found
    root = ROOT / "Tests" / f"{module.replace('Testing', 'Mocks')}Tests"
    if not root.is_dir():
        root, folders = ROOT / "Tests" / "SwitchboardTests", [module, *folders]
    for count in range(len(folders), -1, -1):
        folder = root.joinpath(*folders[:count])
        if found := tests(folder):
            return found
    return []


def dump(output, names, options=(), flags=()):
    """Writes the symbol graphs of modules to a folder for each module. `options` are those of the build."""
    shown = subprocess.run(
        ["swift", "build", *options, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    graphs = pathlib.Path(shown.stdout.strip()).parent / "symbolgraph"
    shutil.rmtree(graphs, ignore_errors=True)
    # The command also fails on test modules that were not built, so the files are checked instead of its status.
    dumped = subprocess.run(
        ["swift", "package", *options, "dump-symbol-graph", "--minimum-access-level", "public", *flags],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for name in names:
        if not (graphs / f"{name}.symbols.json").is_file():
            sys.exit(f"{dumped.stdout}\nno symbols were written for {name}")
        folder = pathlib.Path(output, name)
        folder.mkdir(parents=True, exist_ok=True)
        for graph in [*graphs.rglob(f"{name}.symbols.json"), *graphs.rglob(f"{name}@*.symbols.json")]:
            shutil.copy(graph, folder)
