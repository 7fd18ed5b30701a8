"""Helpers of the oracles: packages of PyPI, programs of Tests/Fixtures/Outside, and scratch folders."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build_folder(name):
    """Creates and returns the folder .build-NAME."""
    folder = ROOT / f".build-{name}"
    folder.mkdir(exist_ok=True)
    return folder


def with_packages():
    """Restarts the script with a Python that has the packages of requirements.txt. Installs them the first time."""
    requirements = pathlib.Path(__file__).with_name("requirements.txt")
    folder = build_folder("python")
    environment = folder / "venv"
    python, stamp = environment / "bin" / "python", environment / hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    if os.path.realpath(sys.prefix) == os.path.realpath(environment) and stamp.exists():
        return
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            print(f"installing {requirements} into {environment}", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
            install = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-r", requirements]
            if subprocess.run(install).returncode:
                subprocess.run(install, check=True)
            stamp.touch()
    os.execv(python, [str(python), "-B", *sys.argv])


def free_port():
    """Returns a port of loopback without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def built(product, configuration="debug", scratch=".build-outside"):
    """Builds a program of Tests/Fixtures/Outside and returns its path. SWITCHBOARD_PROGRAMS has finished debug builds."""
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
    """Creates a folder in .build-NAME and removes it afterwards."""
    with tempfile.TemporaryDirectory(prefix="run.", dir=build_folder(name)) as folder:
        yield pathlib.Path(folder)


def end(passed, failed):
    """Prints the last line and exits, with 1 if anything failed or nothing passed."""
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
