"""What the oracles share: packages of PyPI, the programs of Tests/Fixtures/Outside, and folders for what they write."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build_folder(name):
    """The folder .build-NAME, which is made."""
    folder = ROOT / f".build-{name}"
    folder.mkdir(exist_ok=True)
    return folder


def with_packages(name, *packages):
    """Runs the script again, by a Python that has these packages. The first time they are installed into .build-NAME."""
    environment = build_folder(name) / "venv"
    python, stamp = environment / "bin" / "python", environment / " ".join(packages)
    if os.path.realpath(sys.prefix) == os.path.realpath(environment) and stamp.exists():
        return
    if not stamp.exists():
        print(f"installing {' '.join(packages)} into {environment}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *packages]
        if subprocess.run(install).returncode:
            subprocess.run(install, check=True)
        stamp.touch()
    os.execv(python, [str(python), "-B", *sys.argv])


def built(product, configuration="debug", scratch=".build-outside"):
    """The path of a program of Tests/Fixtures/Outside. SWITCHBOARD_PROGRAMS is where debug builds of all are already."""
    if configuration == "debug" and "SWITCHBOARD_PROGRAMS" in os.environ:
        return pathlib.Path(os.environ["SWITCHBOARD_PROGRAMS"], product)
    if configuration == "debug":
        scratch = os.environ.get("SWITCHBOARD_BUILD", scratch)
    command = ["swift", "build", "--package-path", "Tests/Fixtures/Outside", "--scratch-path", scratch]
    command += ["-c", configuration, "-Xswiftc", "-warnings-as-errors"]
    subprocess.run([*command, "--product", product], cwd=ROOT, check=True, stdout=sys.stderr)
    shown = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(shown.stdout.strip(), product)


@contextlib.contextmanager
def scratch_folder(name):
    """A new folder in .build-NAME, which is removed."""
    with tempfile.TemporaryDirectory(prefix="run.", dir=build_folder(name)) as folder:
        yield pathlib.Path(folder)


def end(passed, failed):
    """Prints the last line and ends the script: with 1 when something failed, and when nothing passed."""
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
