"""The machine: its description, and the programs that the measurements need."""

import ctypes
import os
import pathlib
import platform
import shutil
import subprocess


def path(program):
    """Returns the path of a program, also from the folders of daemons, which are often missing from a user's PATH."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def install(*programs):
    """Installs missing programs. Each has the name of its package."""
    packages = [program for program in programs if not path(program)]
    if not packages:
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    # In run level 1 Debian's packages start no service. The benchmarks start their own nginx.
    environment = ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"]
    for command in (["update", "-qq"], ["install", "-y", "-qq", *packages]):
        subprocess.run([*as_root, *environment, "apt-get", *command], check=True, stdout=subprocess.DEVNULL)


def description():
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "swift": first_line("swift", "--version"),
        "curl": first_line("curl", "--version"),
        "nginx": first_line(path("nginx"), "-v"),
    }


def counted_with():
    """Returns the versions that affect instruction counts: the compiler, the libraries and the processor's architecture."""
    try:
        curl = ctypes.CDLL("libcurl.so.4").curl_version
        curl.restype = ctypes.c_char_p
        libcurl = curl().decode().split()[0]
    except OSError:
        libcurl = "no libcurl"
    return {
        "swift": first_line("swift", "--version"), "libcurl": libcurl, "libc": "-".join(platform.libc_ver()),
        "architecture": platform.machine(),
    }


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def first_line(*command):
    """Returns the first five words of the output. curl also lists every library that it uses."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [line for line in done.stdout.splitlines() if line]
    return " ".join(lines[0].split()[:5]) if lines else ""
