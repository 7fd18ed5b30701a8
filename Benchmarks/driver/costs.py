"""The costs of an app: the CPU time of a clean build, the share of each product, and the sizes of programs.

CPU is the user and system time of all processes of a build. Other programs affect it less than the duration.
"""

import pathlib
import resource
import shutil
import subprocess
import sys

import build
import starts

sys.path.insert(0, str(build.ROOT / "scripts"))
from modules import modules

FOLDER = build.SCRATCH / "costs"
RELEASE = "release, -debug-info-format none"
VARIANTS = {
    "release": ["-c", "release"],
    RELEASE: build.RELEASE,
    "debug": ["-c", "debug"],
    "debug, -debug-info-format none": ["-c", "debug", "-debug-info-format", "none"],
}


def measure():
    products = [module for module in modules(build.ROOT) if module.is_product and module.name not in ("Switchboard", "SwitchboardJSON")]
    names = [module.name for module in products]
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        write_package(names)
        steps = {variant: build_steps(options, names, FOLDER / "dynamic") for variant, options in VARIANTS.items() if variant != RELEASE}
        # Built last, because the program sizes are of this variant.
        steps[RELEASE] = build_steps(VARIANTS[RELEASE], names, FOLDER / "dynamic")
        return {
            "builds": {variant: totals(steps[variant], names) for variant in VARIANTS},
            "products": {
                module.name: {
                    "lines": lines(module), "cpuSeconds": steps[RELEASE][module.name],
                    "strippedKiB": size(module.name, "dynamic") - size("core", "dynamic"),
                }
                for module in products
            },
            "programs": {
                name: {"dynamicKiB": size(name, "dynamic"), "staticKiB": size(name, "static", *static())}
                for name in ("foundation", "core")
            },
        }
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


def write_package(products):
    """Writes a package with programs that make one typed GET, and the movies example.

    The GET uses Foundation, the core, or the core while the program imports one product.
    """
    sources, examples = build.ROOT / "Benchmarks" / "Sources", build.ROOT / "Examples" / "Sources"
    targets = []
    for name, program, imports in [
        ("foundation", "once-urlsession", []), ("core", "once-router", []), *((name, "once-router", [name]) for name in products),
    ]:
        text = (sources / program / "main.swift").read_text()
        folder = FOLDER / "Sources" / f"with-{name}"
        folder.mkdir(parents=True)
        (folder / "main.swift").write_text("".join(f"import {one}\n" for one in imports) + text)
        needed = [] if name == "foundation" else ["Switchboard", *imports]
        targets.append(f'.executableTarget(name: "with-{name}", dependencies: [{dependencies(needed)}]),')
    for name in ("ExampleKit", "Movies"):
        shutil.copytree(examples / name, FOLDER / "Sources" / name)
    needed = dependencies(["Switchboard", "SwitchboardMocks"])
    targets.append(f'.target(name: "ExampleKit", dependencies: [{needed}]),')
    targets.append(f'.executableTarget(name: "Movies", dependencies: ["ExampleKit", {needed}])')
    (FOLDER / "Package.swift").write_text("\n".join([
        "// swift-tools-version: 6.1", "import PackageDescription", 'let package = Package(name: "costs", platforms: [.macOS(.v13)],',
        f'dependencies: [.package(name: "Switchboard", path: "{build.ROOT}")], targets: [', *targets, "])", "",
    ]))


def dependencies(products):
    return ", ".join(f'.product(name: "{name}", package: "Switchboard")' for name in products)


def build_steps(options, products, scratch):
    """Returns the seconds of CPU of a clean build of the core, and of each product and the example built after it."""
    shutil.rmtree(scratch, ignore_errors=True)
    core, again = cpu("with-core", scratch, options), cpu("with-core", scratch, options)
    steps = {name: cpu(f"with-{name}", scratch, options) - again for name in products}
    return {"core": core, **steps, "Movies": cpu("Movies", scratch, options) - again}


def totals(steps, products):
    # The movies example imports the core and the mocks.
    needed = {"SwitchboardMocks"}
    for module in reversed(modules(build.ROOT)):
        if module.name in needed:
            needed.update(module.dependencies)
    app = ["core", *(name for name in products if name in needed), "Movies"]
    return {
        "core": steps["core"], "all products": steps["core"] + sum(steps[name] for name in products),
        "movies example": sum(steps[name] for name in app),
    }


def command(name, scratch, options):
    return ["swift", "build", *options, "--package-path", str(FOLDER), "--scratch-path", str(scratch), "--product", name]


def cpu(name, scratch, options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    build.run(command(name, scratch, options))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"costs: {name}, {' '.join(options)}: {seconds:.1f} s", file=sys.stderr, flush=True)
    return seconds


def lines(module):
    return sum(path.read_text().count("\n") for path in (build.ROOT / module.folder).rglob("*.swift"))


def size(name, scratch, *options):
    """Returns the size in KiB of a program without symbols, or None if it cannot be linked."""
    line = command(f"with-{name}", FOLDER / scratch, [*build.RELEASE, *options])
    try:
        build.run(line)
    except subprocess.CalledProcessError:
        return None
    place = subprocess.run([*line, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return starts.stripped(pathlib.Path(place) / f"with-{name}") / 1_024


def static():
    """Returns the options that link Foundation statically. The linker needs `libcurl.so`, a name that may be missing."""
    folder = FOLDER / "libraries"
    if not folder.exists():
        folder.mkdir()
        known = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True).stdout
        if paths := [line.split(" => ")[1] for line in known.splitlines() if "libcurl.so.4 " in line]:
            (folder / "libcurl.so").symlink_to(paths[0])
    return ["--static-swift-stdlib", "-Xlinker", f"-L{folder}"]
