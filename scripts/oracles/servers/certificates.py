"""Creates certificates of every kind that a client must accept or refuse, anew for each run."""
import base64
import datetime
import hashlib
import ipaddress

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NAMES = ("localhost", "127.0.0.1", "::1", "api.example.test")
KEY_PASSWORD = "key-password-of-the-tests"
DAY = datetime.timedelta(days=1)


def write(folder, name, *blobs):
    path = folder / name
    path.write_bytes(b"".join(blob if isinstance(blob, bytes) else blob.bytes() for blob in blobs))
    return str(path)


def leaf(folder, name, issued):
    """Writes the chain and the key of a server and returns the two files for its TLS context."""
    chain = write(folder, f"{name}.pem", *issued.cert_chain_pems)
    return chain, write(folder, f"{name}.key", issued.private_key_pem)


def pin(certificate_path):
    """Returns the pin of RFC 7469, section 2.4: the Base64 of the SHA-256 of the public key's DER."""
    with open(certificate_path, "rb") as file:
        public = x509.load_pem_x509_certificate(file.read()).public_key()
    der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return "sha256/" + base64.b64encode(hashlib.sha256(der).digest()).decode()


def self_signed(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    alternatives = x509.SubjectAlternativeName(names)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - DAY, now + DAY)
    certificate = builder.add_extension(alternatives, critical=False).sign(key, hashes.SHA256())
    return (
        write(folder, "self-signed.pem", certificate.public_bytes(serialization.Encoding.PEM)),
        write(folder, "self-signed.key", private_pem(key, serialization.NoEncryption())),
    )


def private_pem(key, encryption):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def client(folder, authority):
    """Writes a client's certificate and key: in two files, in one file, with an encrypted key, and from a sub-authority."""
    issued = authority.issue_cert("client@example.test", common_name="client")
    certificate, key = issued.cert_chain_pems[0], issued.private_key_pem
    write(folder, "client.pem", certificate)
    write(folder, "client.key", key)
    write(folder, "client-and-key.pem", key, certificate)
    plain = serialization.load_pem_private_key(key.bytes(), None)
    locked = serialization.BestAvailableEncryption(KEY_PASSWORD.encode())
    write(folder, "client-locked.key", private_pem(plain, locked))
    below = authority.create_child_ca().issue_cert("below@example.test", common_name="client below")
    write(folder, "client-below.pem", *below.cert_chain_pems)
    write(folder, "client-below.key", below.private_key_pem)


def make(folder):
    """Writes all certificates. Returns the servers' chains and keys by kind."""
    now = datetime.datetime.now(datetime.timezone.utc)
    authority, other = trustme.CA(), trustme.CA()
    write(folder, "authority.pem", authority.cert_pem)
    write(folder, "other-authority.pem", other.cert_pem)
    client(folder, authority)
    stranger = other.issue_cert("stranger@example.test", common_name="stranger")
    write(folder, "stranger.pem", stranger.cert_chain_pems[0])
    write(folder, "stranger.key", stranger.private_key_pem)
    return {
        "good": leaf(folder, "good", authority.issue_cert(*NAMES)),
        "second": leaf(folder, "second", authority.issue_cert(*NAMES)),
        "chain": leaf(folder, "chain", authority.create_child_ca().issue_cert(*NAMES)),
        "elsewhere": leaf(folder, "elsewhere", authority.issue_cert("elsewhere.example.test")),
        "expired": leaf(folder, "expired", authority.issue_cert(*NAMES, not_after=now - DAY)),
        "future": leaf(folder, "future", authority.issue_cert(*NAMES, not_before=now + DAY, not_after=now + 2 * DAY)),
        "untrusted": leaf(folder, "untrusted", other.issue_cert(*NAMES)),
        "self-signed": self_signed(folder),
    }
