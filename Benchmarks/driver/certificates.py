"""Creates an authority for this run and a certificate that it signs for localhost and 127.0.0.1."""

import subprocess


def make(folder):
    """Writes and returns three files: the authority, the server's certificate and the certificate's key."""
    authority, authority_key = folder / "authority.pem", folder / "authority.key"
    certificate, key, request = folder / "server.pem", folder / "server.key", folder / "server.csr"
    extensions = folder / "extensions"
    extensions.write_text(
        "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(
        "req", "-x509", *new_key, "-days", "30", "-subj", "/CN=Benchmarks", "-keyout", authority_key, "-out", authority,
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", *new_key, "-subj", "/CN=localhost", "-keyout", key, "-out", request)
    openssl(
        "x509", "-req", "-in", request, "-CA", authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "30",
        "-extfile", extensions, "-out", certificate)
    return authority, certificate, key


def openssl(*words):
    done = subprocess.run(
        ["openssl", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {words[0]} failed: {done.stdout}")
