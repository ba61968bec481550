"""The digest of the base image, asked from a registry that is a small HTTP server."""

import hashlib
import http.server
import json
import threading

import pytest

from launcher import LaunchError, pin_base

MANIFEST = b'{"schemaVersion": 2, "manifests": []}'
DIGEST = "sha256:" + hashlib.sha256(MANIFEST).hexdigest()


@pytest.fixture
def registry():
    """A registry on this machine with one image, nvidia/tensorflow:tf1; `answer` changes what it does."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append((self.path, self.headers.get("Authorization"), self.headers.get("Accept")))
            if self.path.startswith("/token?"):
                return self.send(200, json.dumps({"token": "anybody"}).encode())
            if server.wants_token and self.headers.get("Authorization") != "Bearer anybody":
                return self.send(401, b"", {"WWW-Authenticate": server.wants_token})
            if self.path != "/v2/nvidia/tensorflow/manifests/tf1":
                return self.send(404, b"{}")
            self.send(server.code, MANIFEST, {"Docker-Content-Digest": server.named})

        def send(self, code, body, headers=None):
            self.send_response(code)
            for name, value in dict(headers or {}, **{"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.wants_token, server.named, server.code = [], None, DIGEST, 200
    server.name = f"127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_the_digest_gets_into_env_and_other_lines_stay(registry, machine):
    image = registry.name + "/nvidia/tensorflow:tf1"
    (machine.root / ".env").write_text(f"# mine\nTRAINER=clone\nBASE_IMAGE={image}\nNUM_GPUS=2")
    done = machine.run("pin-base")
    assert (done.returncode, done.err) == (0, "")
    assert done.out == f"Wrote BASE_IMAGE={image}@{DIGEST} to .env.\n"
    assert (machine.root / ".env").read_text() == (f"# mine\nTRAINER=clone\nBASE_IMAGE={image}@{DIGEST}\nNUM_GPUS=2\n")
    assert "application/vnd.oci.image.index.v1+json" in registry.asked[0][2]
    again = machine.run("pin-base")
    assert again.out == f"BASE_IMAGE={image}@{DIGEST} is pinned in .env already, and the registry has no newer one.\n"


def test_a_tag_that_moved_is_said_so(registry, tmp_path):
    old = "sha256:" + "0" * 64
    line = pin_base.pin(str(tmp_path), registry.name + "/nvidia/tensorflow:tf1@" + old)
    assert line.endswith(f"@{DIGEST} to .env (it was {old}).")
    assert (tmp_path / ".env").read_text().count("\n") == 1


def test_a_token_for_anybody_is_fetched_where_the_registry_says(registry, tmp_path):
    registry.wants_token = f'Bearer realm="http://{registry.name}/token",service="hub",scope="repository:a:pull"'
    pin_base.pin(str(tmp_path), registry.name + "/nvidia/tensorflow:tf1")
    assert [path for path, _, _ in registry.asked][1] == "/token?service=hub&scope=repository%3Aa%3Apull"
    assert registry.asked[-1][1] == "Bearer anybody"


@pytest.mark.parametrize(
    "image, change, what",
    [
        ("nvidia/tensorflow:tf9", {}, "has no image"),
        ("nvidia/tensorflow:tf1", {"wants_token": "Basic realm=x"}, "does not show"),
        ("nvidia/tensorflow:tf1", {"named": "sha256:" + "1" * 64}, "does not have the digest it names"),
        ("nvidia/tensorflow:tf1", {"code": 503}, "answered with 503"),
    ],
)
def test_what_the_registry_does_wrong_is_a_sentence(registry, tmp_path, image, change, what):
    for name, value in change.items():
        setattr(registry, name, value)
    with pytest.raises(LaunchError) as refused:
        pin_base.pin(str(tmp_path), registry.name + "/" + image)
    assert what in refused.value.what and refused.value.code == 3
    assert list(tmp_path.iterdir()) == []


def test_a_registry_that_does_not_answer_is_said_so(tmp_path):
    with pytest.raises(LaunchError) as refused:
        pin_base.pin(str(tmp_path), "localhost:1/nvidia/tensorflow:tf1")
    assert refused.value.what.startswith("localhost:1 cannot be asked for the digest: ")


@pytest.mark.parametrize(
    "text, registry, repository, tag",
    [
        ("ubuntu", "registry-1.docker.io", "library/ubuntu", "latest"),
        ("tensorflow/tensorflow:1.15.0-gpu-py3", "registry-1.docker.io", "tensorflow/tensorflow", "1.15.0-gpu-py3"),
        ("nvcr.io/nvidia/tensorflow:23.03-tf1-py3", "nvcr.io", "nvidia/tensorflow", "23.03-tf1-py3"),
        ("localhost:5000/a/b", "localhost:5000", "a/b", "latest"),
    ],
)
def test_names_are_read_as_docker_reads_them(text, registry, repository, tag):
    assert pin_base.parse(text)[:3] == (registry, repository, tag)


@pytest.mark.parametrize("text", ["", "UPPER/case:1", "a:b:c d", "-x"])
def test_what_is_no_name_is_refused(text):
    with pytest.raises(LaunchError) as refused:
        pin_base.parse(text)
    assert refused.value.code == 2
