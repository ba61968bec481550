"""Shuts a TensorFlow server off from the network.

TensorFlow 1.15 listens on every address of the machine, whatever address the cluster names, and runs any graph that
it is sent. A filter on its socket lets the kernel drop what does not come from this machine's loopback addresses.
"""

import contextlib
import ctypes
import os
import socket
import struct

SO_ATTACH_FILTER = 26
# Classic BPF, from <linux/filter.h>.
_LOAD_BYTE, _LOAD_WORD, _AND, _IF_EQUAL, _RETURN = 0x30, 0x20, 0x54, 0x15, 0x06
_NETWORK_HEADER = -0x100000
# (operation, instructions to skip if equal, if not, operand): accepts sources 127.0.0.0/8 and ::1.
_FROM_LOOPBACK = (
    (_LOAD_BYTE, 0, 0, _NETWORK_HEADER),
    (_AND, 0, 0, 0xF0),
    (_IF_EQUAL, 0, 2, 0x40),
    (_LOAD_BYTE, 0, 0, _NETWORK_HEADER + 12),
    (_IF_EQUAL, 9, 10, 127),
    (_IF_EQUAL, 0, 9, 0x60),
    (_LOAD_WORD, 0, 0, _NETWORK_HEADER + 8),
    (_IF_EQUAL, 0, 7, 0),
    (_LOAD_WORD, 0, 0, _NETWORK_HEADER + 12),
    (_IF_EQUAL, 0, 5, 0),
    (_LOAD_WORD, 0, 0, _NETWORK_HEADER + 16),
    (_IF_EQUAL, 0, 3, 0),
    (_LOAD_WORD, 0, 0, _NETWORK_HEADER + 20),
    (_IF_EQUAL, 0, 1, 1),
    (_RETURN, 0, 0, 0xFFFFFFFF),
    (_RETURN, 0, 0, 0),
)


def restrict(port: int) -> None:
    """Makes this process's sockets that listen on `port` hear only this machine.

    Raises:
        OSError: nothing listens there, or the system has no socket filters.
    """
    program = b"".join(
        struct.pack("=HBBI", operation, equal, other, operand & 0xFFFFFFFF)
        for operation, equal, other, operand in _FROM_LOOPBACK
    )
    instructions = ctypes.create_string_buffer(program)
    option = struct.pack("HP", len(_FROM_LOOPBACK), ctypes.addressof(instructions))
    restricted = 0
    for listening in _sockets():
        with contextlib.closing(listening):
            if (
                listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                and listening.family in (socket.AF_INET, socket.AF_INET6)
                and listening.getsockname()[1] == port
            ):
                listening.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, option)
                restricted += 1
    if not restricted:
        raise OSError(f"nothing listens on port {port}")


def _sockets():
    """A duplicate of each socket of this process; the caller closes it."""
    for name in os.listdir("/proc/self/fd"):
        try:
            is_socket = os.readlink("/proc/self/fd/" + name).startswith("socket:")
            if is_socket:
                yield socket.socket(fileno=os.dup(int(name)))
        except FileNotFoundError:
            continue  # the folder's own file descriptor, closed by now
