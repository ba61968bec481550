"""A model of the zoo by its name: fetched once, from a local server here, and only what was published."""

import functools
import hashlib
import http.server
import os
import tarfile
import threading

import pytest

from common.errors import Refused
from tfod_train.checkpoints import model_zoo

NAME = "ssd_mobilenet_v1_coco_2018_01_28"


@pytest.fixture
def archive(tmp_path, write_checkpoint):
    """Path of a made archive as the zoo's are: one folder with the checkpoint, and more."""
    folder = tmp_path / "made" / NAME
    folder.mkdir(parents=True)
    write_checkpoint(str(folder / "model.ckpt"))
    (folder / "frozen_inference_graph.pb").write_bytes(b"graph")
    path = tmp_path / "served" / (NAME + ".tar.gz")
    path.parent.mkdir()
    with tarfile.open(str(path), "w:gz") as tar:
        tar.add(str(folder), NAME)
    return path


@pytest.fixture
def fetch(archive, tmp_path):
    """function() -> what was said; `fetch.asked` counts the requests, `fetch.data` is DATA_DIR."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            super(Handler, self).do_GET()

        def translate_path(self, path):
            return str(archive.parent / os.path.basename(path))

        def log_message(self, *_):
            pass

    asked, published = [], model_zoo.Published(archive.stat().st_size, hashlib.sha256(archive.read_bytes()).hexdigest())
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=functools.partial(server.serve_forever, 0.01), daemon=True).start()

    def run(name="ssd_mobilenet_v1_coco"):
        sentences = []
        model_zoo.ensure(name, run.data, sentences.append, f"http://127.0.0.1:{server.server_port}/", {NAME: published})
        return sentences

    run.asked, run.data = asked, str(tmp_path / "data")
    yield run
    server.shutdown()
    server.server_close()


def test_names_with_and_without_their_date_are_known():
    assert model_zoo.find("ssd_mobilenet_v1_coco") == model_zoo.find(NAME) == NAME
    assert model_zoo.find(f"data/zoo/{NAME}/model.ckpt") is None
    assert model_zoo.near("ssd_mobilnet_v1_coco") == "ssd_mobilenet_v1_coco"
    assert model_zoo.near("runs/other/model.ckpt-3") is None
    assert len({model_zoo.short_name(name) for name in model_zoo.ZOO}) == len(model_zoo.ZOO) == 5


def test_it_is_fetched_once_and_the_archive_removed(fetch):
    folder = os.path.join(fetch.data, "zoo")
    assert fetch() == [f"Fetching {NAME} of the model zoo (0 MB) into {folder}, once."]
    assert os.listdir(folder) == [NAME]
    assert os.path.isfile(model_zoo.checkpoint(NAME, fetch.data) + ".index")
    assert fetch() == [] and len(fetch.asked) == 1


def test_an_archive_put_there_by_hand_needs_no_network(fetch, archive):
    os.makedirs(os.path.join(fetch.data, "zoo"))
    there = os.path.join(fetch.data, "zoo", archive.name)
    archive.rename(there)
    assert fetch() == [f"Unpacking {there}."]
    assert fetch.asked == [] and os.path.isfile(model_zoo.checkpoint(NAME, fetch.data) + ".index")


def test_a_cut_file_put_there_by_hand_is_named_and_fetched_anew(fetch, archive):
    os.makedirs(os.path.join(fetch.data, "zoo"))
    with open(os.path.join(fetch.data, "zoo", archive.name), "wb") as cut:
        cut.write(archive.read_bytes()[:100])
    assert "has 100 bytes instead of the published" in fetch()[0]
    assert len(fetch.asked) == 1


def test_without_a_network_people_are_told_where_to_put_the_file(fetch, archive):
    archive.unlink()
    with pytest.raises(Refused) as refused:
        fetch()
    assert refused.value.code == 3
    assert "could not be downloaded" in refused.value.what
    assert f"{NAME}.tar.gz, as it is, into {os.path.join(fetch.data, 'zoo')}" in refused.value.do
    assert os.listdir(os.path.join(fetch.data, "zoo")) == []


def test_other_content_of_the_same_size_is_refused(fetch, archive):
    archive.write_bytes(bytes(archive.stat().st_size))
    with pytest.raises(Refused, match="sha256"):
        fetch()
    assert os.listdir(os.path.join(fetch.data, "zoo")) == []


def test_a_full_disk_is_told_before_the_download(fetch, monkeypatch):
    monkeypatch.setattr(model_zoo.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1}))
    with pytest.raises(Refused, match="0 MB free"):
        fetch()
    assert fetch.asked == []


def test_what_names_no_zoo_model_is_left_alone(fetch):
    assert fetch("none") == fetch("runs/other/model.ckpt-3") == []
    assert not os.path.exists(fetch.data)
