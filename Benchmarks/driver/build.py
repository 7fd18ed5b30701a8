"""Builds the programs."""

import pathlib
import subprocess

import machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build-bench"
# Debug information does not change the code, and valgrind 3.19 cannot read Swift's.
RELEASE = ["-c", "release", "-debug-info-format", "none"]


def programs(package, *options):
    """Builds the programs of a nested package and returns their folder."""
    command = [
        "swift", "build", *RELEASE, *options, "--package-path", str(package), "--scratch-path", str(SCRATCH / package.name.lower()),
    ]
    run(command)
    place = subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(place.stdout.strip())


def floor():
    """Builds the loop over libcurl in C++ and returns the program. It decodes only where simdjson is installed."""
    program, source = SCRATCH / "floor", ROOT / "Benchmarks" / "Sources" / "floor" / "floor.cpp"
    simdjson = ["-DHAS_SIMDJSON", "-lsimdjson"] if machine.SIMDJSON.exists() else []
    run(["g++", "-std=c++20", "-O3", "-march=native", str(source), "-o", str(program), *simdjson, "-l:libcurl.so.4"])
    return program


def run(command):
    """Runs a build and prints its output only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        raise subprocess.CalledProcessError(done.returncode, command)
