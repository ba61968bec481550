"""Hypothesis strategies that damage files as disks, networks and people do."""

import json

from hypothesis import strategies

_EDITS = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(("flip", "cut", "insert", "delete", "zero", "repeat")),
        strategies.floats(0, 1),
        strategies.binary(min_size=1, max_size=12),
    ),
    min_size=1,
    max_size=4,
)


def damaged(data):
    """data (bytes) after up to four edits; may come out unchanged."""
    return _EDITS.map(lambda edits: _apply(data, edits))


def _apply(data, edits):
    for kind, where, piece in edits:
        at = int(where * len(data))
        after = at + len(piece)
        if kind == "cut":
            data = data[:at]
        elif kind == "insert":
            data = data[:at] + piece + data[at:]
        elif kind == "delete":
            data = data[:at] + data[after:]
        elif kind == "zero":
            data = data[:at] + bytes(len(data[at:after])) + data[after:]
        elif kind == "repeat":
            data = data[:after] + data[at:]
        elif data[at:]:
            data = data[:at] + bytes([data[at] ^ 1 << piece[0] % 8]) + data[at + 1 :]
    return data


_NUMBERS = strategies.integers(-5, 50) | strategies.floats() | strategies.sampled_from((2**70, -(2**70), 1e308))
_VALUES = strategies.recursive(
    strategies.none() | strategies.booleans() | _NUMBERS | strategies.text(max_size=5),
    lambda inner: (
        strategies.lists(inner, max_size=3) | strategies.dictionaries(strategies.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@strategies.composite
def changed_json(draw, content):
    """A copy of content (dicts and lists) in which up to four values, mostly leaves, are replaced or missing."""
    copy = json.loads(json.dumps(content))
    for _ in range(draw(strategies.integers(1, 4))):
        places = list(_places(copy))
        if not places:
            break
        node, key = places[draw(strategies.integers(0, len(places) - 1))]
        if draw(strategies.booleans()):
            node[key] = draw(_VALUES)
        else:
            del node[key]
    return copy


def _places(node):
    """(container, key) of everything in node."""
    for key in sorted(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])
