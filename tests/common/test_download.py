"""Downloads from a local HTTP server that behaves as servers do: cuts off, lies, knows no ranges."""

import contextlib
import gzip
import hashlib
import http.server
import io
import os
import shutil
import socketserver
import tarfile
import threading

import pytest

from common import download
from common.errors import DataError

CONTENT = bytes(range(256)) * 2000
ARCHIVE = download.Archive("images.tar.gz", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class _Threading(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class Server:
    """Serves `content` as badly as its attributes say; `ranges_asked` holds each request's Range header."""

    def __init__(self):
        self.content, self.cuts, self.knows_ranges, self.status, self.tells_length = (CONTENT, [], True, 200, True)
        self.headers, self.shift, self.redirect, self.pauses, self.pause_at = {}, 0, None, [], 200000
        self.ranges_asked, self.paths_asked = [], []
        self.go_on = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self._http = _Threading(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, request):
        asked = request.headers.get("Range")
        self.ranges_asked.append(asked)
        self.paths_asked.append(request.path)
        if self.redirect:
            request.send_response(302)
            request.send_header("Location", self.redirect)
            request.end_headers()
            return
        start = int(asked[6:-1]) if asked and self.knows_ranges else 0
        body = self.content[start:]
        request.send_response(206 if start else self.status)
        if start:
            request.send_header(
                "Content-Range", f"bytes {start + self.shift}-{len(self.content) - 1}/{len(self.content)}"
            )
        if self.tells_length:
            request.send_header("Content-Length", str(len(body)))
        for name, value in self.headers.items():
            request.send_header(name, value)
        request.end_headers()
        body = body[: self.cuts.pop(0)] if self.cuts else body
        if self.pauses:
            # Says a part and then nothing for as long.
            request.wfile.write(body[: self.pause_at])
            request.wfile.flush()
            self.go_on.wait(self.pauses.pop(0))
            body = body[self.pause_at :]
        with contextlib.suppress(ConnectionError):  # the other side may have given up
            request.wfile.write(body)

    def close(self):
        self.go_on.set()
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


def test_an_answer_with_another_range_is_not_appended(servers, tmp_path):
    servers[0].cuts, servers[0].shift = [100000], 7
    assert fetch(tmp_path, *servers) == CONTENT
    assert servers[1].ranges_asked == ["bytes=100000-"]


def test_an_answer_in_parts_that_nobody_asked_for_is_left(servers, tmp_path):
    servers[0].status = 206
    assert fetch(tmp_path, *servers) == CONTENT
    assert servers[1].ranges_asked == [None]


def test_a_server_that_went_silent_is_asked_to_go_on_and_named_if_it_stays_silent(
    servers, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(download, "_TIMEOUT_SECONDS", (20, 1.5))
    servers[0].pauses = [60]
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[0].ranges_asked == [None, "bytes=196608-"]
    assert "it went silent for 1.5 s at 196608 of 512000 bytes" in capsys.readouterr().out
    servers[0].pauses = [60] * 9
    os.unlink(str(tmp_path / ARCHIVE.name))
    servers[0].pause_at = 0
    servers[1].redirect = "http://127.0.0.1:1/"
    with pytest.raises(DataError, match="went silent.*no connection"):
        fetch(tmp_path, *servers)


def test_a_slow_server_is_waited_for(servers, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_TIMEOUT_SECONDS", (20, 20))
    servers[0].pauses = [0.3]
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[0].ranges_asked == [None]


def test_a_web_page_without_a_length_is_named_and_leaves_no_byte(servers, tmp_path, capsys):
    servers[0].content, servers[0].tells_length = b"<html>Log in</html>", False
    servers[0].headers = {"Content-Type": "text/html; charset=utf-8"}
    assert fetch(tmp_path, *servers) == CONTENT
    assert "answers with a web page" in capsys.readouterr().out
    assert servers[1].ranges_asked == [None]


def test_a_length_that_is_no_number_does_not_end_the_download(servers, tmp_path):
    servers[0].tells_length, servers[0].headers = False, {"Content-Length": "banana"}
    assert fetch(tmp_path, servers[0]) == CONTENT


def test_a_server_that_calls_the_compression_an_encoding_gives_the_same_bytes(tmp_path):
    zipped = gzip.compress(CONTENT)
    archive = download.Archive("a.tar.gz", len(zipped), hashlib.sha256(zipped).hexdigest())
    server = Server()
    server.content, server.headers = zipped, {"Content-Encoding": "gzip"}
    download.fetch(archive, [server.url], str(tmp_path / "a.tar.gz"), pause_seconds=0)
    server.close()
    assert (tmp_path / "a.tar.gz").read_bytes() == zipped


def test_wrong_bytes_of_an_earlier_run_do_not_condemn_a_source(servers, tmp_path, capsys):
    (tmp_path / (ARCHIVE.name + ".part")).write_bytes(b"x" * 300000)
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[0].ranges_asked == ["bytes=300000-", None]
    assert "what was there before does not fit" in capsys.readouterr().out


def test_more_than_the_whole_file_from_an_earlier_run_is_thrown_away(servers, tmp_path):
    (tmp_path / (ARCHIVE.name + ".part")).write_bytes(CONTENT + b"x")
    assert fetch(tmp_path, servers[0]) == CONTENT


def test_a_redirect_is_followed_and_one_without_end_is_named(servers, tmp_path, capsys):
    servers[0].redirect = servers[1].url + "elsewhere"
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert servers[1].paths_asked == ["/elsewhere"]
    os.unlink(str(tmp_path / ARCHIVE.name))
    servers[0].redirect = servers[0].url
    with pytest.raises(DataError, match="redirects without end"):
        fetch(tmp_path, servers[0])


def test_the_proxy_of_the_environment_is_asked_and_no_proxy_is_honoured(servers, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", servers[1].url)
    monkeypatch.setenv("no_proxy", "")
    path = str(tmp_path / ARCHIVE.name)
    download.fetch(ARCHIVE, ["http://data.invalid/a"], path)
    assert servers[1].paths_asked == ["http://data.invalid/a"]
    os.unlink(path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert fetch(tmp_path, servers[0]) == CONTENT
    assert len(servers[1].paths_asked) == 1


def test_a_proxy_that_does_not_answer_is_named(servers, tmp_path, monkeypatch):
    closed = Server()
    closed.close()
    monkeypatch.setenv("http_proxy", closed.url)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(DataError, match="the proxy does not answer"):
        download.fetch(ARCHIVE, ["http://data.invalid/a"], str(tmp_path / "a"))


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
    path = make_archive(
        tmp_path / "a.tar.gz",
        [
            ("./._images", tarfile.REGTYPE, b"mac"),
            ("./images", tarfile.DIRTYPE, ""),
            ("./images/a.jpg", tarfile.REGTYPE, b"image"),
            ("images/._a.jpg", tarfile.REGTYPE, b"mac"),
        ],
    )
    download.unpack(path, str(tmp_path), "images")
    assert sorted(os.listdir(str(tmp_path))) == ["a.tar.gz", "images"]
    assert os.listdir(str(tmp_path / "images")) == ["a.jpg"]


@pytest.mark.parametrize(
    "name, kind, content",
    [
        ("../outside", tarfile.REGTYPE, b"x"),
        ("images/../../outside", tarfile.REGTYPE, b"x"),
        ("/tmp/outside", tarfile.REGTYPE, b"x"),
        ("images/link", tarfile.SYMTYPE, "/etc/passwd"),
        ("images/link", tarfile.LNKTYPE, "/etc/passwd"),
        ("images/device", tarfile.CHRTYPE, ""),
        ("images/device", tarfile.BLKTYPE, ""),
        ("images/pipe", tarfile.FIFOTYPE, ""),
        ("other/a.jpg", tarfile.REGTYPE, b"x"),
        ("images", tarfile.SYMTYPE, "/tmp"),
    ],
)
def test_a_member_that_leaves_its_folder_is_refused_and_nothing_stays(tmp_path, name, kind, content):
    path = make_archive(tmp_path / "a.tar.gz", [("images/a.jpg", tarfile.REGTYPE, b"image"), (name, kind, content)])
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


@pytest.mark.parametrize(
    "members, message",
    [([], "holds no folder images/"), ([("images", tarfile.REGTYPE, b"x")], "holds no folder images/")],
)
def test_an_archive_without_the_folder_is_refused_and_nothing_stays(tmp_path, members, message):
    path = make_archive(tmp_path / "a.tar.gz", members)
    with pytest.raises(DataError, match=message):
        download.unpack(path, str(tmp_path), "images")
    assert os.listdir(str(tmp_path)) == ["a.tar.gz"]


def test_a_flipped_bit_in_an_archive_is_no_fault_of_the_disk(tmp_path):
    path = make_archive(tmp_path / "a.tar.gz", [("images/a.jpg", tarfile.REGTYPE, os.urandom(50000))])
    with open(path, "r+b") as file:
        file.seek(-6, 2)  # the checksum at gzip's end
        byte = file.read(1)[0]
        file.seek(-6, 2)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(DataError, match="no whole tar archive"):
        download.unpack(path, str(tmp_path), "images")
    assert os.listdir(str(tmp_path)) == ["a.tar.gz"]


def test_what_was_downloaded_already_needs_no_space(servers, tmp_path, monkeypatch):
    archive = download.Archive("images.tar.gz", 1000, "0" * 64)
    (tmp_path / "images.tar.gz.part").write_bytes(b"x" * 900)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9999, 9999 - 2099, 2099))
    with pytest.raises(DataError, match="its disk has"):
        download.fetch_pets(str(tmp_path), [servers[0].url], {"images": archive})
    (tmp_path / "images.tar.gz.part").write_bytes(b"x" * 901)
    with pytest.raises(DataError, match="could not be downloaded"):
        download.fetch_pets(str(tmp_path), [servers[0].url], {"images": archive})


def test_a_full_disk_is_told_before_the_download_begins(servers, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(DataError, match="its disk has 0.0 GB free"):
        download.fetch_pets(str(tmp_path / "raw"), [servers[0].url])
    assert servers[0].ranges_asked == []


def test_the_whole_dataset_is_fetched_once_and_the_archives_are_removed(servers, tmp_path):
    archives = {}
    for folder in ("images", "annotations"):
        path = make_archive(tmp_path / (folder + ".tar.gz"), [(folder + "/x.txt", tarfile.REGTYPE, folder.encode())])
        with open(path, "rb") as file:
            servers[0].content = servers[1].content = file.read()
        archives[folder] = download.Archive(
            folder + ".tar.gz", os.path.getsize(path), hashlib.sha256(servers[0].content).hexdigest()
        )
        download.fetch_pets(str(tmp_path / "raw"), [servers[0].url], {folder: archives[folder]})
    assert sorted(os.listdir(str(tmp_path / "raw"))) == ["annotations", "images"]
    asked = len(servers[0].ranges_asked)
    download.fetch_pets(str(tmp_path / "raw"), [servers[0].url], archives)
    assert len(servers[0].ranges_asked) == asked


def test_an_archive_that_was_there_is_used_and_stays_or_is_named(servers, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    path = make_archive(raw / "images.tar.gz", [("images/x.txt", tarfile.REGTYPE, b"x")])
    with open(path, "rb") as file:
        content = file.read()
    archive = download.Archive("images.tar.gz", len(content), hashlib.sha256(content).hexdigest())
    download.fetch_pets(str(raw), [servers[0].url], {"images": archive})
    assert sorted(os.listdir(str(raw))) == ["images", "images.tar.gz"] and servers[0].ranges_asked == []
    other = tmp_path / "other"
    other.mkdir()
    (other / "images.tar.gz").write_bytes(b"mine")
    with pytest.raises(DataError, match="is not the published archive"):
        download.fetch_pets(str(other), [servers[0].url], {"images": archive})
    assert (other / "images.tar.gz").read_bytes() == b"mine" and os.listdir(str(other)) == ["images.tar.gz"]


def test_a_download_that_was_killed_before_it_was_unpacked_is_ours(servers, tmp_path):
    path = make_archive(tmp_path / "images.tar.gz", [("images/x.txt", tarfile.REGTYPE, b"x")])
    with open(path, "rb") as file:
        servers[0].content = file.read()
    archive = download.Archive("images.tar.gz", len(servers[0].content), hashlib.sha256(servers[0].content).hexdigest())
    raw = tmp_path / "raw"
    raw.mkdir()
    download.ownership.claim(str(raw), ["images.tar.gz"])
    (raw / "images.tar.gz").write_bytes(servers[0].content[:20])
    download.fetch_pets(str(raw), [servers[0].url], {"images": archive})
    assert os.listdir(str(raw)) == ["images"]
