"""Downloads from a local HTTP server that behaves as servers do: cuts off, lies, knows no ranges."""

import hashlib
import http.server
import io
import os
import shutil
import tarfile
import threading

import pytest

from data_prep import download
from data_prep.errors import DataError

CONTENT = bytes(range(256)) * 2000
ARCHIVE = download.Archive("images.tar.gz", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Server:
    """Serves `content` as badly as its attributes say; `ranges_asked` holds each request's Range header."""

    def __init__(self):
        self.content, self.cuts, self.knows_ranges, self.status, self.tells_length = (
            CONTENT, [], True, 200, True)
        self.ranges_asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) if hasattr(
            http.server, "ThreadingHTTPServer") else http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/" % self._http.server_port
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.ranges_asked.append(asked)
        start = int(asked[6:-1]) if asked and self.knows_ranges else 0
        body = self.content[start:]
        request.send_response(206 if start else self.status)
        if start:
            request.send_header("Content-Range",
                                "bytes %d-%d/%d" % (start, len(self.content) - 1, len(self.content)))
        if self.tells_length:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[:self.cuts.pop(0)] if self.cuts else body)

    def close(self):
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def servers():
    both = Server(), Server()
    yield both
    for server in both:
        server.close()


def fetch(tmp_path, *servers):
    path = str(tmp_path / ARCHIVE.name)
    download.fetch(ARCHIVE, [server.url + ARCHIVE.name for server in servers], path, pause_seconds=0)
    with open(path, "rb") as file:
        return file.read()


def test_a_whole_file_arrives(servers, tmp_path):
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert os.listdir(str(tmp_path)) == [ARCHIVE.name]


def test_a_cut_connection_goes_on_where_it_ended(servers, tmp_path):
    servers[0].cuts = [100000, 50000]
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[0].ranges_asked == [None, "bytes=100000-", "bytes=150000-"]


def test_a_later_run_goes_on_where_the_last_one_was_killed(servers, tmp_path):
    (tmp_path / (ARCHIVE.name + ".part")).write_bytes(CONTENT[:300000])
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[0].ranges_asked == ["bytes=300000-"]


def test_a_server_without_ranges_starts_over(servers, tmp_path):
    servers[0].cuts, servers[0].knows_ranges = [100000], False
    assert fetch(tmp_path, servers[0]) == CONTENT


def test_a_server_that_always_cuts_is_left_for_the_mirror_which_goes_on(servers, tmp_path):
    servers[0].cuts = [1000] * 50
    assert fetch(tmp_path, *servers) == CONTENT
    assert servers[1].ranges_asked == ["bytes=5000-"]


def test_a_web_page_with_status_200_is_not_taken_for_the_archive(servers, tmp_path):
    servers[0].content = b"<html>Sorry</html>"
    assert fetch(tmp_path, *servers) == CONTENT


def test_a_server_that_hides_the_length_and_sends_too_much_is_left(servers, tmp_path):
    servers[0].tells_length, servers[0].content = False, CONTENT + b"more"
    assert fetch(tmp_path, *servers) == CONTENT


def test_content_of_the_right_size_and_the_wrong_sha256_is_thrown_away(servers, tmp_path):
    servers[0].content = bytes(len(CONTENT))
    assert fetch(tmp_path, *servers) == CONTENT
    assert servers[1].ranges_asked == [None]


def test_a_file_that_is_already_whole_is_not_asked_for_again(servers, tmp_path):
    fetch(tmp_path, servers[0])
    servers[0].status = 500
    assert fetch(tmp_path, servers[0]) == CONTENT


def test_every_source_that_failed_is_named_with_its_reason(servers, tmp_path):
    servers[0].status = 404
    servers[1].content = b"short"
    with pytest.raises(DataError) as error:
        fetch(tmp_path, *servers)
    assert "HTTP status 404" in error.value.what and "offers 5 bytes instead of 512000" in error.value.what
    assert "--source" in error.value.do
    assert os.listdir(str(tmp_path)) == []


def test_without_a_network_one_sentence_says_so(tmp_path):
    closed = Server()
    closed.close()
    with pytest.raises(DataError, match="no connection"):
        fetch(tmp_path, closed)


def make_archive(path, members):
    """A tar.gz of (name, type, content or link target)."""
    with tarfile.open(str(path), "w:gz") as tar:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.REGTYPE:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
            else:
                member.linkname = content
                tar.addfile(member)
    return str(path)


def test_an_archive_is_unpacked_without_the_files_a_mac_added(tmp_path):
    path = make_archive(tmp_path / "a.tar.gz", [
        ("./._images", tarfile.REGTYPE, b"mac"), ("./images", tarfile.DIRTYPE, ""),
        ("./images/a.jpg", tarfile.REGTYPE, b"picture"), ("images/._a.jpg", tarfile.REGTYPE, b"mac")])
    download.unpack(path, str(tmp_path), "images")
    assert sorted(os.listdir(str(tmp_path))) == ["a.tar.gz", "images"]
    assert os.listdir(str(tmp_path / "images")) == ["a.jpg"]


@pytest.mark.parametrize("name, kind, content", [
    ("../outside", tarfile.REGTYPE, b"x"),
    ("images/../../outside", tarfile.REGTYPE, b"x"),
    ("/tmp/outside", tarfile.REGTYPE, b"x"),
    ("images/link", tarfile.SYMTYPE, "/etc/passwd"),
    ("images/link", tarfile.LNKTYPE, "/etc/passwd"),
    ("images/device", tarfile.CHRTYPE, ""),
])
def test_a_member_that_leaves_its_folder_is_refused_and_nothing_stays(tmp_path, name, kind, content):
    path = make_archive(tmp_path / "a.tar.gz", [("images/a.jpg", tarfile.REGTYPE, b"picture"),
                                                (name, kind, content)])
    with pytest.raises(DataError, match="not a file or folder inside of images/"):
        download.unpack(path, str(tmp_path), "images")
    assert os.listdir(str(tmp_path)) == ["a.tar.gz"]


def test_a_cut_archive_is_refused_and_nothing_stays(tmp_path):
    path = make_archive(tmp_path / "a.tar.gz", [("images/a.jpg", tarfile.REGTYPE, os.urandom(50000))])
    with open(path, "r+b") as file:
        file.truncate(20000)
    with pytest.raises(DataError, match="no whole tar archive"):
        download.unpack(path, str(tmp_path), "images")
    assert os.listdir(str(tmp_path)) == ["a.tar.gz"]


def test_a_full_disk_is_told_before_the_download_begins(servers, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(DataError, match="its disk has 0.0 GB free"):
        download.fetch_pets(str(tmp_path / "raw"), [servers[0].url])
    assert servers[0].ranges_asked == []


def test_the_whole_dataset_is_fetched_once_and_the_archives_are_removed(servers, tmp_path):
    archives = {}
    for folder in ("images", "annotations"):
        path = make_archive(tmp_path / (folder + ".tar.gz"),
                            [(folder + "/x.txt", tarfile.REGTYPE, folder.encode())])
        with open(path, "rb") as file:
            servers[0].content = servers[1].content = file.read()
        archives[folder] = download.Archive(folder + ".tar.gz", os.path.getsize(path),
                                            hashlib.sha256(servers[0].content).hexdigest())
        download.fetch_pets(str(tmp_path / "raw"), [servers[0].url], {folder: archives[folder]})
    assert sorted(os.listdir(str(tmp_path / "raw"))) == ["annotations", "images"]
    asked = len(servers[0].ranges_asked)
    download.fetch_pets(str(tmp_path / "raw"), [servers[0].url], archives)
    assert len(servers[0].ranges_asked) == asked
