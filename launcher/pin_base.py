"""`make pin-base`: asks the registry for the digest of BASE_IMAGE's tag and writes it into .env.

A tag may name another image tomorrow; its digest names this one. Standard library only, so that it needs
neither Docker nor buildx. Registries answer as the OCI distribution specification says; a public image needs no
login.
"""

import hashlib
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from typing import NamedTuple

from common import files
from launcher import LaunchError

SECONDS = 30
# An index names the image of each platform; Docker chooses from it, so its digest is the one to pin.
KINDS = ", ".join(
    [
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ]
)
LARGEST = 4 * 2**20  # bytes of a manifest, as registries limit it
REFERENCE = re.compile(
    r"(?P<name>[a-z0-9][\w.:/-]*?)(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?$"
)


class Reference(NamedTuple):
    """`registry/repository:tag`; `name` is repository and registry as they were written."""

    registry: str
    repository: str
    tag: str
    name: str
    digest: str


def parse(text: str) -> Reference:
    """The Reference that a BASE_IMAGE names, read as Docker reads it: without a registry it is Docker Hub's.

    Raises:
        LaunchError: code 2, it is no reference.
    """
    found = REFERENCE.match(text)
    if not found:
        raise LaunchError(
            f"BASE_IMAGE={text} is not the name of an image.",
            "Write REGISTRY/NAME:TAG, for example nvcr.io/nvidia/tensorflow:23.03-tf1-py3.",
            code=2,
        )
    name = found.group("name")
    first, _, rest = name.partition("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        registry, repository = first, rest
    else:
        registry, repository = "registry-1.docker.io", name if rest else "library/" + name
    return Reference(registry, repository, found.group("tag") or "latest", name, found.group("digest") or "")


def digest(reference: Reference) -> str:
    """Asks the registry; returns "sha256:…" of the tag's manifest, computed from what it sent.

    Raises:
        LaunchError: code 3, it does not answer, has no such image, wants a login or contradicts itself.
    """
    # As Docker does: a registry on this machine may speak without TLS.
    host = reference.registry.split(":")[0]
    scheme = "http" if host in ("localhost", "127.0.0.1") else "https"
    url = f"{scheme}://{reference.registry}/v2/{reference.repository}/manifests/{reference.tag}"
    try:
        body, named = _get(url, {"Accept": KINDS})
    except urllib.error.HTTPError as error:
        challenge = error.headers.get("WWW-Authenticate") or ""
        if error.code != 401 or not challenge.lower().startswith("bearer "):
            raise _refused(reference, error.code) from error
        try:
            body, named = _get(url, {"Accept": KINDS, "Authorization": "Bearer " + _token(challenge)})
        except urllib.error.HTTPError as second:
            raise _refused(reference, second.code) from second
        except (OSError, ValueError) as second:
            raise _silent(reference, second) from second
    except (OSError, ValueError) as error:
        raise _silent(reference, error) from error
    computed = "sha256:" + hashlib.sha256(body).hexdigest()
    if named and named != computed:
        raise LaunchError(
            f"{reference.registry} sent something that does not have the digest it names.",
            "Nothing was written; try again, and look for a proxy that changes answers.",
        )
    return computed


def _get(url, headers):
    """(body, digest named by the server or None) of an address."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:
        body = answer.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise ValueError(f"a manifest of more than {LARGEST} bytes")
        return body, answer.headers.get("Docker-Content-Digest")


def _token(challenge):
    """The token for anybody that a registry's challenge says where to get."""
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    query = urllib.parse.urlencode({name: fields[name] for name in ("service", "scope") if name in fields})
    realm = fields.get("realm", "")
    body, _ = _get(f"{realm}?{query}", {})
    answer = json.loads(body.decode())
    return answer.get("token") or answer["access_token"]


def _refused(reference, code):
    name = f"{reference.name}:{reference.tag}"
    if code in (401, 403):
        return LaunchError(
            f"{reference.registry} does not show {name} without a login.",
            f"After `docker login {reference.registry}`, `docker pull {name}` prints the digest; write "
            f"BASE_IMAGE={name}@sha256:… into .env.",
        )
    if code == 404:
        return LaunchError(
            f"{reference.registry} has no image {name}.", "Correct BASE_IMAGE; docs/gpus.md has the images that fit."
        )
    return LaunchError(
        f"{reference.registry} answered with {code} when asked for {name}.", "Nothing was written; try again later."
    )


def _silent(reference, error):
    reason = getattr(error, "reason", None) or error
    return LaunchError(
        f"{reference.registry} cannot be asked for the digest: {reason}.",
        "Nothing was written; check the network and its proxy (HTTPS_PROXY), and try again.",
    )


def pinned(text: str, value: str) -> str:
    """The text of a .env file with BASE_IMAGE as `value`: lines are kept, the last BASE_IMAGE is replaced."""
    lines = text.splitlines()
    at = [number for number, line in enumerate(lines) if re.match(r"\s*(export\s+)?BASE_IMAGE\s*=", line)]
    if at:
        lines[at[-1]] = "BASE_IMAGE=" + value
    else:
        lines.append("BASE_IMAGE=" + value)
    return "\n".join(lines) + "\n"


def pin(root: str, image: str) -> str:
    """Writes the digest of `image` into root/.env; returns the line to show.

    Raises:
        LaunchError: `image` is no reference, or its registry gives no digest.
    """
    reference = parse(image)
    found = digest(reference)
    value = f"{reference.name}:{reference.tag}@{found}"
    path = os.path.join(root, ".env")
    try:
        with open(path) as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    after = pinned(before, value)
    if after == before:
        return f"BASE_IMAGE={value} is pinned in .env already, and the registry has no newer one."
    files.write_text(path, after)
    moved = f" (it was {reference.digest})" if reference.digest not in ("", found) else ""
    return f"Wrote BASE_IMAGE={value} to .env{moved}."
