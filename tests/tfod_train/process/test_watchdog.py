"""A training that hangs is ended; one that was paused, or is only slow to start, is not."""

import threading

import pytest

from tfod_train.process.watchdog import Watchdog

TICK = 0.2  # of 4 s


def watched(secs, beats=(), until=100):
    """(seconds of silence that it noticed, exit codes) of a watchdog that hears a beat at each of these of its
    own seconds and looks until `until`; no time passes."""
    silences, ended = [], []
    watchdog = Watchdog(secs, silences.append, end=ended.append)
    waiting = list(beats)

    class Ticks(object):
        """In place of the event that ends the watch: each wait is over at once."""

        now = 0.0

        def wait(self, tick):
            if waiting and waiting[0] <= self.now:
                waiting.pop(0)
                watchdog.beat()
            self.now += tick
            return self.now > until

    watchdog._done = Ticks()
    watchdog._watch()
    return silences, ended


def test_silence_after_a_step_ends_with_exit_code_5():
    assert watched(4, beats=[0]) == ([pytest.approx(4, abs=1.5 * TICK)], [5])
    assert watched(4, beats=[0, 3, 6], until=9.5) == ([], [])
    assert watched(4, beats=[0, 3, 6], until=11) == ([pytest.approx(4, abs=1.5 * TICK)], [5])


def test_the_first_step_may_take_three_times_as_long():
    assert watched(4, until=11) == ([], [])
    assert watched(4) == ([pytest.approx(12, abs=1.5 * TICK)], [5])


def test_steps_keep_it_quiet():
    assert watched(4, beats=range(0, 100, 3)) == ([], [])


def test_in_its_own_thread_it_hears_and_ends_too():
    ended = threading.Event()
    with Watchdog(0.2, lambda silent: None, end=lambda code: ended.set()) as watchdog:
        watchdog.beat()
        assert ended.wait(60)
    with Watchdog(3600, lambda silent: None, end=lambda code: None) as watchdog:
        pass
    watchdog._thread.join(60)
    assert not watchdog._thread.is_alive()


def test_it_ends_the_process_though_its_own_last_words_hang(monkeypatch):
    from tfod_train.process import watchdog

    monkeypatch.setattr(watchdog, "LAST_WORDS_SECS", 0.1)
    ended, never = threading.Event(), threading.Event()
    with Watchdog(0.1, lambda silent: never.wait(), end=lambda code: ended.set()):
        assert ended.wait(60)
    never.set()
