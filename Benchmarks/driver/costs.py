"""What an app pays: the CPU of clean builds, what each product adds to it, and the sizes of programs.

CPU is user and system time of all processes of a build, which changes less than its duration when other programs run.
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
SOURCES = build.ROOT / "Benchmarks" / "Sources"
VARIANTS = {
    "release": ["-c", "release"],
    "release, -debug-info-format none": build.RELEASE,
    "debug": ["-c", "debug"],
    "debug, -debug-info-format none": ["-c", "debug", "-debug-info-format", "none"],
}


def measure():
    library = modules(build.ROOT)
    products = [module for module in library if module.is_product and module.name != "Switchboard"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        write([module.name for module in products])
        return {
            "builds": {name: builds(options) for name, options in VARIANTS.items()},
            "products": added(products),
            "programs": {
                name: {
                    "dynamicKiB": size(name, FOLDER / "products"), "staticKiB": size(name, FOLDER / "static", *static()),
                }
                for name in ("foundation", "core")
            },
        }
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


def write(products):
    """A package of programs: Foundation's typed GET, the core's, the same beside each product, and beside all."""
    targets = {"foundation": ("once-urlsession", []), "core": ("once-router", []), "all": ("once-router", products)}
    targets |= {name: ("once-router", [name]) for name in products}
    lines = ["// swift-tools-version: 6.1", "import PackageDescription", "let package = Package("]
    lines += [f'name: "costs", dependencies: [.package(name: "Switchboard", path: "{build.ROOT}")], targets: [']
    for target, (program, imports) in targets.items():
        folder = FOLDER / "Sources" / program_of(target)
        folder.mkdir(parents=True)
        text = (SOURCES / program / "main.swift").read_text()
        (folder / "main.swift").write_text("".join(f"import {name}\n" for name in imports) + text)
        needs = imports + (["Switchboard"] if program == "once-router" else [])
        dependencies = ", ".join(f'.product(name: "{name}", package: "Switchboard")' for name in needs)
        lines.append(f'.executableTarget(name: "{program_of(target)}", dependencies: [{dependencies}]),')
    (FOLDER / "Package.swift").write_text("\n".join([*lines, "])", ""]))


def program_of(target):
    return f"with-{target}"


def builds(options):
    """Seconds of CPU of clean builds."""
    return {
        "core": cpu(options, "core"), "all products": cpu(options, "all"),
        "movies": cpu(options, "movies", package=build.ROOT / "Examples"),
    }


def added(products):
    """What a product adds to a program that has the core, those that it depends on left out when they came before."""
    kept = FOLDER / "products"
    cpu(build.RELEASE, "core", kept=kept)
    nothing = cpu(build.RELEASE, "core", kept=kept)
    core = size("core", kept)
    figures = {}
    for module in products:
        seconds = cpu(build.RELEASE, module.name, kept=kept) - nothing
        lines = sum(path.read_text().count("\n") for path in (build.ROOT / module.folder).rglob("*.swift"))
        figures[module.name] = {"lines": lines, "cpuSeconds": seconds, "strippedKiB": size(module.name, kept) - core}
    return figures


def cpu(options, target, package=FOLDER, kept=None):
    """Builds a program, from the start unless in a folder that is kept."""
    scratch = kept or FOLDER / "scratch"
    name = target if package != FOLDER else program_of(target)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    build.run(["swift", "build", *options, "--package-path", str(package), "--scratch-path", str(scratch), "--product", name])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not kept:
        shutil.rmtree(scratch)
    print(f"costs: {target}, {' '.join(options)}", file=sys.stderr, flush=True)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size(target, scratch, *options):
    """KiB of a program without symbols; None when it cannot be linked."""
    command = ["swift", "build", *build.RELEASE, *options, "--package-path", str(FOLDER), "--scratch-path", str(scratch)]
    try:
        build.run([*command, "--product", program_of(target)])
    except subprocess.CalledProcessError:
        return None
    place = subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return starts.stripped(pathlib.Path(place) / program_of(target)) / 1_024


def static():
    """The options of a program that has Foundation inside. It needs `libcurl.so`, which may not be installed by this name."""
    folder = FOLDER / "libraries"
    folder.mkdir(exist_ok=True)
    known = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True).stdout
    if lines := [line for line in known.splitlines() if "libcurl.so.4 " in line]:
        (folder / "libcurl.so").unlink(missing_ok=True)
        (folder / "libcurl.so").symlink_to(lines[0].split(" => ")[1])
    return ["--static-swift-stdlib", "-Xlinker", f"-L{folder}"]
