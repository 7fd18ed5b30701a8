"""The machine: its description, and the programs that the measurements need."""

import ctypes
import os
import pathlib
import platform
import shutil
import subprocess
import sys


# The header of libsimdjson-dev.
SIMDJSON = pathlib.Path("/usr/include/simdjson.h")
# The authorities that URLSession on Linux trusts.
AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


def path(program):
    """Returns the path of a program, also from the folders of daemons, which are often missing from a user's PATH."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def install(*programs):
    """Installs missing programs. Each has the name of its package."""
    packages = [program for program in programs if not path(program)]
    if not packages:
        return
    apt_get("update", "-qq")
    apt_get("install", "-y", "-qq", *packages)


def install_simdjson():
    """Installs simdjson if it is missing and the system has a package of it."""
    if SIMDJSON.exists():
        return
    try:
        apt_get("install", "-y", "-qq", "libsimdjson-dev")
    except subprocess.CalledProcessError:
        print("libsimdjson-dev cannot be installed", file=sys.stderr, flush=True)


def apt_get(*words):
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    # In run level 1 Debian's packages start no service. The benchmarks start their own nginx.
    environment = ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"]
    subprocess.run([*as_root, *environment, "apt-get", "-o", "DPkg::Lock::Timeout=300", *words], check=True, stdout=subprocess.DEVNULL)


def trusting(authority):
    """Returns the start of a command whose program finds this authority in place of the system's. It needs root."""
    return ["unshare", "--mount", "sh", "-c", f'mount --bind "$0" {AUTHORITIES} && exec "$@"', str(authority)]


def can_replace_authorities():
    return subprocess.run([*trusting(AUTHORITIES), "true"], stderr=subprocess.DEVNULL).returncode == 0


def description():
    return {
        "system": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "swift": first_line("swift", "--version"),
        "curl": first_line("curl", "--version"),
        "nginx": first_line(path("nginx"), "-v"),
        "load": f"{os.getloadavg()[1]:.1f}",
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
