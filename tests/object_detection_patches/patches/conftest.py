"""What the scenarios of several patches leave behind: each runs once, however many files look at it."""

import pytest


@pytest.fixture(scope="session")
def clones(play):
    """A training on two clones, each on a virtual CPU device of its own."""
    return play("clones")


@pytest.fixture(scope="session")
def inputs(play):
    """A batch of the training input."""
    return play("inputs")


@pytest.fixture(scope="session")
def workers(play):
    """What each of two workers reads in an epoch, with and without shuffling: [source ids, size of a batch]."""
    return play("workers")


@pytest.fixture(scope="session")
def seeded(play):
    """What the input of a seeded graph is, and how the clones' queue is emptied."""
    return play("seeded")
