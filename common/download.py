"""Fetch an archive: what arrives is what was published, and nothing in it leaves its folder."""

import hashlib
import os
import shutil
import tarfile
import time
import zlib
from typing import Dict, NamedTuple, Optional, Sequence
from urllib.parse import urlsplit

import requests
import urllib3

from common import files, ownership
from common.errors import DataError
from common.progress import Progress

_CHUNK_BYTES = 1 << 20
_RECEIVED_BYTES = 1 << 16  # a server that goes silent takes at most so much with it
_TIMEOUT_SECONDS = (10, 60)  # to connect, between two pieces
_ATTEMPTS = 5
_PART = ".part"


class Archive(NamedTuple):
    """A published file: its size and sha256 say what it is, wherever it comes from."""

    name: str
    bytes: int
    sha256: str


PETS_SOURCES = ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/", "https://thor.robots.ox.ac.uk/~vgg/data/pets/")
PETS_ARCHIVES = {
    "images": Archive("images.tar.gz", 791918971, "67195c5e1c01f1ab5f9b6a5d22b8c27a580d896ece458917e61d459337fa318d"),
    "annotations": Archive(
        "annotations.tar.gz", 19173078, "52425fb6de5c424942b7626b428656fcbd798db970a937df61750c0f1d358e91"
    ),
}


class _Unusable(Exception):
    """This source does not give the file; another may."""


def fetch_pets(
    raw_dir: str, sources: Sequence[str] = PETS_SOURCES, archives: Optional[Dict[str, Archive]] = None
) -> None:
    """Make raw_dir hold the Oxford pets' images/ and annotations/; what is there stays.

    Args:
        raw_dir: made if missing.
        sources: addresses of folders that have the archives, tried in this order.
        archives: {folder: Archive}, by default the published ones.

    Raises:
        DataError: no source gives an archive, or the disk has no room for it.
    """
    with files.locked(raw_dir):
        files.remove_temporaries(raw_dir)
        for folder, archive in (archives or PETS_ARCHIVES).items():
            if os.path.isdir(os.path.join(raw_dir, folder)):
                continue
            path = os.path.join(raw_dir, archive.name)
            brought = os.path.lexists(path) and archive.name not in ownership.listed(raw_dir)
            if brought and not _is_whole(path, archive):
                raise DataError(
                    f"{path} is there, and is not the published archive.", "Move it; then it is downloaded."
                )
            if not brought:
                ownership.claim(raw_dir, [archive.name])
            # Images hardly compress: their folder needs as much again, and so do their records.
            _need_space(raw_dir, 3 * archive.bytes - files.size(path) - files.size(path + _PART))
            fetch(archive, [source + archive.name for source in sources], path)
            unpack(path, raw_dir, folder)
            if not brought:
                os.unlink(path)
                ownership.settle(raw_dir)


def _is_whole(path, archive):
    return files.size(path) == archive.bytes and _sha256(path) == archive.sha256


def fetch(archive: Archive, urls: Sequence[str], path: str, pause_seconds: float = 2) -> None:
    """Download an archive from the first source that gives it whole.

    An unfinished download waits as path + ".part" and goes on from there, also from another source and in a
    later run. Proxies are those of the environment (HTTPS_PROXY, NO_PROXY), as requests reads them.

    Args:
        archive: says when it is whole.
        urls: the sources.
        path: where it goes.
        pause_seconds: before an attempt after a cut connection, doubled each time.

    Raises:
        DataError: none of them does.
    """
    if _is_whole(path, archive):
        return
    failures = []
    for url in urls:
        try:
            _fetch_from(url, archive, path + _PART, pause_seconds)
            os.replace(path + _PART, path)
            return
        except _Unusable as reason:
            failures.append(f"{urlsplit(url).netloc}: {reason}")
            print(f"{archive.name} does not come from {urlsplit(url).netloc} ({reason}).", flush=True)
    raise DataError(
        f"{archive.name} could not be downloaded ({'; '.join(failures)}).",
        "Check the network and run the same command again: it goes on where it was; or fetch the archives "
        "elsewhere, unpack them and give their folder as --source (with make: PETS_DIR).",
    )


def unpack(path: str, root: str, folder: str) -> None:
    """Unpack the tar archive at path, all of it inside of folder; root/folder is then whole or not there.

    Args:
        path: of the archive.
        root: the folder to unpack in.
        folder: the name that all members begin with.

    Raises:
        DataError: a member would leave the folder or is neither file nor folder, or the archive is damaged. Nothing is
            left of it then.
    """
    unfinished = files.temporary(os.path.join(root, folder))
    os.makedirs(unfinished)
    try:
        with open(path, "rb") as file, tarfile.open(fileobj=file) as tar, Progress(
            "Unpacking " + os.path.basename(path), os.path.getsize(path), "B", scale=True
        ) as progress:
            done = 0
            for member in tar:
                _extract(tar, path, member, unfinished, folder)
                progress.update(file.tell() - done)
                done = file.tell()
            # A tar ends before its compression does, which has a checksum of everything at its end.
            while tar.fileobj is not None and tar.fileobj.read(_CHUNK_BYTES):
                pass
        if not os.path.isdir(os.path.join(unfinished, folder)):
            raise DataError(
                f"{path} holds no folder {folder}/.", "Do not use this archive: it is not the published one."
            )
        os.replace(os.path.join(unfinished, folder), os.path.join(root, folder))
    except (tarfile.TarError, EOFError, zlib.error, ValueError, OSError) as error:
        # gzip's errors are OSErrors without a number; those of the file system have one.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{path} is no whole tar archive ({error}).", "Remove it and download it again.") from error
    finally:
        shutil.rmtree(unfinished)


def _extract(tar, path, member, root, folder):
    parts = [part for part in member.name.split("/") if part != "."]
    # Thousands of `._` files that a Mac added beside the real ones, and the archive's own `./`.
    if not parts or parts[-1].startswith("._"):
        return
    if not (member.isfile() or member.isdir()) or parts[0] != folder or ".." in parts:
        raise DataError(
            f"{path} holds {member.name!r}, which is not a file or folder inside of {folder}/.",
            "Do not use this archive: it is not the published one.",
        )
    target = os.path.join(root, *parts)
    if member.isdir():
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with tar.extractfile(member) as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file)


def _fetch_from(url, archive, part, pause_seconds):
    """Make part the whole archive, or raise _Unusable. What part holds already is not fetched again."""
    begun_elsewhere = files.size(part) > 0
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(pause_seconds * 2 ** (attempt - 1))
        before = files.size(part)
        try:
            if before != archive.bytes:
                _continue(url, archive, part)
            ended = "the connection ended"
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            # What arrived is kept; its size says whether something is missing.
            ended = _why(error)
            if files.size(part) == before:
                raise _Unusable(ended) from error
        if files.size(part) == archive.bytes:
            if _sha256(part) == archive.sha256:
                return
            os.unlink(part)
            if not begun_elsewhere:
                raise _Unusable("the content is not what was published: wrong sha256")
            # The fault may lie in what an earlier run or another source gave.
            print(f"{archive.name}: what was there before does not fit; once more from its start.", flush=True)
            _fetch_from(url, archive, part, pause_seconds)
            return
        print(f"{archive.name}: {ended} at {files.size(part)} of {archive.bytes} bytes.", flush=True)
    raise _Unusable(f"the connection ended early {_ATTEMPTS} times")


def _why(error):
    """What a failed request means, in words; the most special first."""
    exceptions = requests.exceptions
    for kinds, words in (
        ((exceptions.ProxyError, urllib3.exceptions.ProxyError), "the proxy does not answer"),
        ((exceptions.SSLError, urllib3.exceptions.SSLError), "its certificate cannot be verified"),
        ((exceptions.ConnectTimeout,), "no connection"),
        ((exceptions.Timeout, urllib3.exceptions.TimeoutError), f"it went silent for {_TIMEOUT_SECONDS[1]:g} s"),
        ((exceptions.TooManyRedirects,), "it redirects without end"),
        ((exceptions.ConnectionError,), "no connection"),
        ((exceptions.ChunkedEncodingError, urllib3.exceptions.ProtocolError), "the connection ended"),
        ((exceptions.RequestException,), f"it cannot be asked: {error}"),
    ):
        if isinstance(error, kinds):
            return words
    return "the answer cannot be read"


def _continue(url, archive, part):
    """Append to part what the server gives; starts over where the server cannot begin in the middle."""
    have = files.size(part)
    headers = {"Accept-Encoding": "identity"}
    if have > archive.bytes:
        os.unlink(part)
        have = 0
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as answer:
        start = _start(answer, have)
        length = answer.headers.get("Content-Length", "")
        if length.isdigit() and int(length) != archive.bytes - start:
            # Also a web page that says in words, with status 200, that there is no such file.
            raise _Unusable(f"it offers {start + int(length)} bytes instead of {archive.bytes}")
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            raise _Unusable("it answers with a web page; a network may want you to log in")
        with open(part, "ab" if start else "wb") as file, Progress(
            "Downloading " + archive.name, archive.bytes, "B", scale=True
        ) as progress:
            progress.start_at(start)
            _receive(answer, file, archive.bytes - start, progress)


def _start(answer, have):
    """The byte at which the answer begins. Raises _Unusable for an answer that is no part of the file."""
    if answer.status_code not in (200, 206):
        raise _Unusable(f"HTTP status {answer.status_code}")
    start = have if answer.status_code == 206 else 0
    if answer.status_code == 206 and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise _Unusable("it answers with another range than was asked for")
    return start


def _receive(answer, file, limit, progress):
    try:
        # Not decoded: some servers call the archive's own compression a Content-Encoding.
        for chunk in answer.raw.stream(_RECEIVED_BYTES, decode_content=False):
            limit -= len(chunk)
            if limit < 0:
                raise _Unusable("it sends more than was published")
            file.write(chunk)
            progress.update(len(chunk))
    finally:
        file.flush()
        os.fsync(file.fileno())


def _need_space(folder, needed):
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"{folder} needs {needed / 1e9:.1f} GB and its disk has {free / 1e9:.1f} GB free.",
            "Free space, or choose a folder on another disk with --out.",
        )


def _sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()
