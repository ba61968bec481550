"""What `benchmarks.soak` calls growth, on made-up memory; and a short soak of both trainers."""

import os

import pytest

from benchmarks import soak

MB = 1e6


def every_hundred_steps(size_at, last=30000):
    return [(step, size_at(step) * MB) for step in range(0, last + 1, 100)]


def test_what_grows_before_memory_has_settled_does_not_count():
    found = soak.growth(every_hundred_steps(lambda step: min(step, 900)))
    assert (found.settled, found.end, found.peak, found.share) == (900 * MB, 900 * MB, 900 * MB, 0)


def test_a_leak_is_told_by_its_size():
    # 10 kB a step: the medians are those of steps 1,500 and 29,500.
    found = soak.growth(every_hundred_steps(lambda step: 490 + step / 100.0))
    assert found.settled == pytest.approx(505 * MB)
    assert found.end == pytest.approx(785 * MB)
    assert found.share == pytest.approx(785 / 505.0 - 1) and found.share > soak.LIMIT
    assert str(found) == "505.0 MB after 1000 steps, 785.0 MB at the end (+55.4 %), at most 790.0 MB in between"


def test_a_peak_in_between_is_shown_and_is_no_growth():
    found = soak.growth(every_hundred_steps(lambda step: 900 if step == 5000 else 600))
    assert (found.share, found.peak) == (0, 900 * MB)


def test_the_course_shows_whether_it_levels_off():
    samples = every_hundred_steps(lambda step: min(step, 11000), last=11000)
    assert soak.course(samples, parts=2) == [pytest.approx(3450 * MB), pytest.approx(8450 * MB)]


@pytest.mark.parametrize("samples", [[], [(0, 5.0), (500, 5.0)], [(0, 5.0), (1000, 5.0)], [(1900, 5.0), (2000, 5.0)]])
def test_too_few_steps_are_refused(samples):
    with pytest.raises(ValueError):
        soak.growth(samples)


def test_samples_get_the_step_of_their_time_and_those_outside_of_the_steps_are_left_out():
    lines = [{"time": 10.0, "step": 1}, {"time": 20.0, "step": 101}, {"time": 30.0, "step": 401}]
    assert soak.by_step([(9.0, 1), (10.0, 2), (15.0, 3), (25.0, 4), (30.0, 5), (31.0, 6)], lines) == [
        (1.0, 2),
        (51.0, 3),
        (251.0, 4),
        (401.0, 5),
    ]


def test_memory_is_that_of_all_processes():
    import subprocess
    import sys

    import psutil

    # The second process holds 50 MB.
    grandchild = "held = bytearray(50 * 10 ** 6); print(len(held), flush=True); input()"
    child = f"import subprocess, sys; subprocess.call([sys.executable, '-c', {grandchild!r}])"
    with subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"50000000\n"
        size = soak.resident(psutil.Process(process.pid))
        process.communicate(b"\n")
    assert 60 * MB < size < 120 * MB


@pytest.mark.nightly
@pytest.mark.soak
@pytest.mark.parametrize("trainer", soak.TRAINERS)
def test_memory_does_not_grow_with_steps(trainer, mini, api_dir, tmp_path):
    folder = str(tmp_path / "run")
    found = soak.growth(soak.train(trainer, 2500, folder, DATASET=str(mini), PYTHONPATH=api_dir))
    assert found.share < soak.LIMIT, found
    assert os.path.exists(os.path.join(folder, "model.ckpt-2500.index"))
