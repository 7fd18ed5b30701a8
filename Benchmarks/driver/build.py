"""Builds the programs."""

import pathlib
import subprocess

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


def run(command):
    """Runs a build and prints its output only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        raise subprocess.CalledProcessError(done.returncode, command)
