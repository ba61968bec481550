"""The memory a process may use, from made-up files of control groups."""

import pytest

from tfod_train.devices import memory_limit

GB = 10**9
NO_LIMIT_V1 = "9223372036854771712"


@pytest.fixture
def root(tmp_path):
    """function(content of /proc/self/cgroup, {path under /sys/fs/cgroup: content}) -> root folder."""

    def make(groups, files):
        (tmp_path / "proc" / "self").mkdir(parents=True)
        (tmp_path / "proc" / "self" / "cgroup").write_text(groups)
        for path, content in files.items():
            target = tmp_path / "sys" / "fs" / "cgroup" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content + "\n")
        return str(tmp_path)

    return make


@pytest.mark.parametrize(
    "groups, files, expected",
    [
        ("0::/\n", {"memory.max": "2000000000"}, 2 * GB),
        ("0::/\n", {"memory.max": "max"}, 8 * GB),
        (
            "0::/user.slice/train.scope\n",
            {"user.slice/memory.max": "3000000000", "user.slice/train.scope/memory.max": "max"},
            3 * GB,
        ),
        # In a container of version 1 the path is the host's; what is mounted is the container's own group.
        ("9:cpuset:/docker/ab\n4:memory:/docker/ab\n", {"memory/memory.limit_in_bytes": "1000000000"}, GB),
        (
            "4:memory:/x\n0::/\n",
            {"memory/memory.limit_in_bytes": NO_LIMIT_V1, "memory/x/memory.limit_in_bytes": "1000000000"},
            GB,
        ),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": NO_LIMIT_V1}, 8 * GB),
        ("", {}, 8 * GB),
    ],
)
def test_the_smallest_limit_binds(groups, files, expected, root):
    assert memory_limit.limit(root(groups, files), total=8 * GB) == expected


def test_this_machine_has_memory():
    assert 2**28 < memory_limit.limit() < 2**50
