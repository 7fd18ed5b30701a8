"""Builds the bench program, and times a clean release build of the library."""

import shutil
import subprocess
import time


def bench(root, scratch):
    """The program, built."""
    command = [
        "swift", "build", "-c", "release", "--package-path", str(root / "Benchmarks"),
        "--scratch-path", str(scratch / "swift"),
    ]
    run(command)
    place = subprocess.run([*command, "--show-bin-path"], check=True, stdout=subprocess.PIPE, text=True)
    return place.stdout.strip() + "/bench"


def time_of_release_build(root, failures):
    """Seconds; None when it does not build."""
    scratch = root / ".build-bar"
    shutil.rmtree(scratch, ignore_errors=True)
    start = time.monotonic()
    try:
        run([
            "swift", "build", "-c", "release", "--target", "Switchboard", "--package-path", str(root),
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
