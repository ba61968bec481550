"""A training that hangs is ended; one that was paused, or is only slow to start, is not."""
import threading
import time

from trainers.watchdog import Watchdog


def watched(secs, beats=0, every=0.0, wait=2.0):
    """(what was said, exit codes) of a watchdog that hears `beats` beats and then waits."""
    said, ended, over = [], [], threading.Event()
    with Watchdog(secs, said.append, end=lambda code: (ended.append(code), over.set())) as watchdog:
        for _ in range(beats):
            watchdog.beat()
            time.sleep(every)
        over.wait(wait)
    return said, ended


def test_silence_after_a_step_ends_with_exit_code_5():
    said, ended = watched(0.2, beats=1)
    assert ended == [5] and 0.2 <= said[0] < 0.3


def test_the_first_step_may_take_three_times_as_long():
    assert watched(0.4, wait=0.8)[1] == []
    assert watched(0.2)[1] == [5]


def test_steps_keep_it_quiet():
    assert watched(0.4, beats=8, every=0.1, wait=0.05)[1] == []


def test_it_ends_the_process_though_its_own_last_words_hang(monkeypatch):
    from trainers import watchdog
    monkeypatch.setattr(watchdog, "LAST_WORDS_SECS", 0.1)
    ended = threading.Event()
    with Watchdog(0.1, lambda silent: time.sleep(5), end=lambda code: ended.set()):
        assert ended.wait(2)
