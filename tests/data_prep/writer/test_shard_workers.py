"""The processes that convert: their number changes no byte, and none of them outlives a run that failed."""

import errno
import hashlib
import os
import subprocess
import sys
import time

import psutil
import pytest

from common import files
from common.errors import DataError
from data_prep.tfrecord import codec
from data_prep.writer import balance, shard_workers
from data_prep.writer.outcome import Outcome
from tests.data_prep.prepared import content, shard_hashes


def test_the_bytes_do_not_depend_on_the_number_of_workers(raw, tmp_path):
    one = raw.convert(tmp_path / "one", workers=1)
    three = raw.convert(tmp_path / "three", workers=3)
    assert one == three and len(set(shard_hashes(one))) == 4
    for shard in one["splits"]["val"]["shards"]:
        data = (tmp_path / "three" / shard["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == shard["sha256"]


def test_a_shard_that_does_not_reach_the_disk_is_told_and_leaves_the_older_dataset(raw, tmp_path, monkeypatch):
    raw.convert(tmp_path / "out", shards=2)
    before = content(tmp_path / "out")

    def broken(path):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(files, "sync", broken)
    with pytest.raises(DataError, match="A shard could not be written: Input/output error"):
        raw.convert(tmp_path / "out", shards=3)
    assert content(tmp_path / "out") == before


def test_the_processes_of_a_killed_run_end_with_it(raw, tmp_path):
    code = (
        "import sys, time; from data_prep.images import normalize; load = normalize.load\n"
        "normalize.load = lambda data, damaged: time.sleep(2) or load(data, damaged)\n"
        "from data_prep.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.Popen(
        [
            sys.executable,
            "-c",
            code,
            "pets",
            "--source",
            raw.root,
            "--out",
            str(tmp_path / "out"),
            "--shards",
            "2",
            "--workers",
            "2",
        ],
        stderr=subprocess.PIPE,
    )
    parent = psutil.Process(run.pid)
    while len(parent.children()) < 2:
        assert run.poll() is None
        time.sleep(0.02)
    workers = parent.children()
    run.kill()
    assert run.communicate(timeout=60)[1] == b""  # both have closed it, without a word
    assert psutil.wait_procs(workers, timeout=60)[1] == []


def test_a_worker_that_is_killed_ends_the_run_with_a_sentence(raw, tmp_path):
    code = (
        "import os, signal, sys; from data_prep.formats import pets; from data_prep.images import normalize\n"
        "normalize.load = lambda data, damaged: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from data_prep.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["pets", "--source", raw.root, "--out", str(tmp_path / "out"), "--shards", "2"]
    ended = subprocess.run([sys.executable, "-c", code] + arguments, stderr=subprocess.PIPE)
    assert ended.returncode == 3
    assert b"ended with exit code -9" in ended.stderr and b"--workers" in ended.stderr
    assert os.listdir(str(tmp_path / "out")) == []


def convert(image_id):
    """An Outcome whose record holds the id; ids with `no` are skipped."""
    if "no" in image_id:
        return Outcome(None, skipped="it is none")
    return Outcome({"id": codec.Texts([image_id])}, (1, 2), source_sha256="ab" * 32, size=(4, 3))


def test_shards_come_back_in_the_order_of_their_tasks_with_what_is_counted(tmp_path):
    tasks = [
        shard_workers.Task("train", number, ids, str(tmp_path / f"shard-{number}"))
        for number, ids in enumerate((["a", "no", "b"], [], ["c"]))
    ]
    first, empty, last = shard_workers.run(tasks, convert, workers=2)
    assert [shard.task for shard in (first, empty, last)] == tasks
    assert [codec.decode(payload)["id"] for payload in codec.read(first.unfinished)] == [[b"a"], [b"b"]]
    assert (first.labels, first.most_boxes, first.sizes) == ({1: 2, 2: 2}, 2, {(4, 3): 2})
    assert [(place, image_id, outcome.skipped) for place, image_id, outcome in first.notable] == [
        (1, "no", "it is none")
    ]
    nothing, image = bytes(balance.DIGEST_BYTES), (b"\xab" * 32)[: balance.DIGEST_BYTES]
    assert (first.digests, empty.digests, empty.written.examples) == (image + nothing + image, b"", 0)
    assert sorted(os.listdir(str(tmp_path))) == sorted(os.path.basename(s.unfinished) for s in (first, empty, last))


@pytest.mark.parametrize("secs_between_reports", [0, 3600])
def test_each_image_is_reported_once(tmp_path, monkeypatch, secs_between_reports):
    monkeypatch.setattr(shard_workers, "_SECONDS_BETWEEN_REPORTS", secs_between_reports)
    reports = []
    shard_workers._write(
        shard_workers.Task("train", 0, ["a", "no", "b"], str(tmp_path / "shard")), convert, reports.append
    )
    assert reports == ([1, 1, 1, 0] if secs_between_reports == 0 else [3])


def test_an_error_of_the_data_comes_out_of_its_process_as_it_is(tmp_path):
    def fails(image_id):
        raise DataError(f"{image_id} is wrong.", "Correct it.")

    with pytest.raises(DataError, match="b is wrong. Correct it."):
        shard_workers.run([shard_workers.Task("train", 0, ["b"], str(tmp_path / "shard"))], fails, workers=1)
