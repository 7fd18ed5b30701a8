"""Builds the programs, and times a clean release build of the library."""

import pathlib
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(package, name):
    """A program of a nested package, built; where it is."""
    scratch = ROOT / ".build-bench" / package.name.lower()
    # No debug information: it changes no code, and valgrind 3.19 cannot read Swift's.
    command = [
        "swift", "build", "-c", "release", "-debug-info-format", "none", "--package-path", str(package), "--scratch-path", str(scratch),
    ]
    run([*command, "--product", name])
    place = subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True)
    return f"{place.stdout.strip()}/{name}"


def time_of_release_build(failures):
    """Seconds; None when it does not build."""
    scratch = ROOT / ".build-bar"
    shutil.rmtree(scratch, ignore_errors=True)
    start = time.monotonic()
    try:
        run([
            "swift", "build", "-c", "release", "--target", "Switchboard", "--package-path", str(ROOT),
            "--scratch-path", str(scratch),
        ])
        return time.monotonic() - start
    except subprocess.CalledProcessError as error:
        failures.add("build", "release", error)
        return None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run(command):
    """Runs a build; its output is shown only when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout)
        raise subprocess.CalledProcessError(done.returncode, command)
