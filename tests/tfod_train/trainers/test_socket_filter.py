"""A port can be closed to all but this machine."""

import os
import socket

import pytest

from tfod_train.trainers import socket_filter


def other_address():
    """An IPv4 address of this machine beside 127.0.0.1, or None."""
    import psutil

    addresses = [
        address.address
        for interface in psutil.net_if_addrs().values()
        for address in interface
        if address.family == socket.AF_INET and not address.address.startswith("127.")
    ]
    return addresses[0] if addresses else None


def reaches(address, port):
    try:
        socket.create_connection((address, port), timeout=0.5).close()
        return True
    except OSError:
        return False


def test_a_port_can_be_closed_to_all_but_this_machine():
    outside = other_address()
    if outside is None:
        pytest.skip("this machine has no address but 127.0.0.1")
    # As TensorFlow's: one socket for every address of both families.
    with socket.socket(socket.AF_INET6) as server:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::", 0))
        server.listen(8)
        port = server.getsockname()[1]
        assert reaches(outside, port)
        socket_filter.restrict(port)
        assert not reaches(outside, port)
        assert reaches("127.0.0.1", port)
        assert reaches("::1", port) or not os.path.exists("/proc/net/if_inet6")


def test_a_port_that_nobody_listens_on_cannot_be_closed():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match="nothing listens"):
            socket_filter.restrict(unused.getsockname()[1])
