"""Parameter servers: processes of this machine, without a GPU, that hold the variables of the clone trainer.

They end with the training whatever way it ends: `stop` kills them; the kernel does when the training's process dies
(PR_SET_PDEATHSIG); and they read a pipe whose other end the training alone holds, which closes even when the process
becomes another program. Run as `python -m tfod_train.trainers.parameter_servers` this module is one server.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Callable, List

from common.errors import PREFLIGHT_FAILED, Refused
from common.project import PROJECT_DIR
from tfod_train.process import resource_errors
from tfod_train.trainers import socket_filter

HOST = "127.0.0.1"
MASTER = "master"
PS = "ps"
READY = b"listening\n"
ATTEMPTS = 3
START_SECS = 300
LOST_SECS = 1
PR_SET_PDEATHSIG = 1


class ParameterServers(object):
    """Servers that are being started; a context manager that ends them.

    Starting them takes as long as TensorFlow's import and goes on beside the caller until `connect`.
    `worker` is the name of the training's own job, as the API's trainer wants it.

    Args:
        count: how many, 0 or more.
        lost: function(sentence), called in a thread of its own when a server ends too early. It should end this
            process: a step that waits for a server that is gone waits for ever.
    """

    worker = MASTER + "/task:0"

    def __init__(self, count: int, lost: Callable[[str], None]):
        self.count = count
        self._lost = lost
        self._ending = False
        self._start()

    def __enter__(self) -> "ParameterServers":
        return self

    def __exit__(self, error_type: Any, *_: Any) -> None:
        if error_type is not None and self.count:
            # The error may come from a server's end: `lost` says it better.
            time.sleep(LOST_SECS)
        self.stop()

    @property
    def pids(self) -> List[int]:
        return [process.pid for process in self._processes]

    def connect(self, config: Any) -> str:
        """Waits for the servers and makes this process the cluster's master.

        Args:
            config: ConfigProto; its devices are those of this process's server.

        Returns:
            The address for sessions, grpc://HOST:PORT; "" (this process alone) for no servers.

        Raises:
            Refused: they do not start, or cannot be shut off from the network.
        """
        if not self.count:
            return ""
        import tensorflow.compat.v1 as tf

        for attempt in range(ATTEMPTS):
            if attempt:
                # Between our choice of the ports and their use another program may have taken one.
                self.stop()
                self._start()
            if not all([_wait_until_ready(process) for process in self._processes]):
                continue
            try:
                server = tf.train.Server(
                    _cluster(self._ports), job_name=MASTER, task_index=0, config=config, start=False
                )
            except tf.errors.OpError:
                continue
            _restrict(self._ports[0])
            server.start()
            self._server = server
            for task, process in enumerate(self._processes):
                threading.Thread(target=self._watch, args=(task, process), daemon=True).start()
            # TensorFlow takes the proxy of the environment even for this machine.
            os.environ.update(_without_proxy(os.environ))
            return f"grpc://{HOST}:{self._ports[0]}"
        raise Refused(
            "The parameter servers do not start.",
            "The reason is at the end of train.log; PS_TASKS=0 trains without them.",
            PREFLIGHT_FAILED,
        )

    def stop(self) -> None:
        """Ends the servers; they hold nothing that is not in a checkpoint."""
        self._ending = True
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def _watch(self, task, process):
        code = process.wait()
        if not self._ending:
            self._lost(f"Parameter server {task + 1} of {self.count} ended ({resource_errors.was_killed(code)}).")

    def _start(self):
        self._ending = False
        self._ports = _free_ports(self.count + 1)
        self._processes = []
        environ = dict(
            os.environ,
            CUDA_VISIBLE_DEVICES="-1",
            PYTHONPATH=os.pathsep.join(filter(None, (PROJECT_DIR, os.environ.get("PYTHONPATH")))),
            **_without_proxy(os.environ),
        )
        for task in range(self.count):
            self._processes.append(
                subprocess.Popen(
                    [
                        sys.executable,
                        "-W",
                        "ignore",
                        "-m",
                        "tfod_train.trainers.parameter_servers",
                        str(os.getpid()),
                        str(task),
                    ]
                    + [str(port) for port in self._ports],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environ,
                )
            )


def _without_proxy(environ):
    """The variable that keeps gRPC from taking a proxy for this machine, with what `environ` has there."""
    return {"no_proxy": ",".join(filter(None, (environ.get("no_proxy"), HOST)))}


def _wait_until_ready(process):
    """True when the server listens; False when it ended instead, or takes longer than it may."""
    timer = threading.Timer(START_SECS, process.kill)
    timer.daemon = True
    timer.start()
    try:
        return process.stdout.readline() == READY
    finally:
        timer.cancel()


def _cluster(ports):
    """ClusterSpec of the ports: the first is the master's."""
    import tensorflow.compat.v1 as tf

    addresses = [f"{HOST}:{port}" for port in ports]
    return tf.train.ClusterSpec({MASTER: addresses[:1], PS: addresses[1:]})


def _free_ports(count):
    """Different ports on which nothing listens now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _restrict(port):
    try:
        socket_filter.restrict(port)
    except OSError as error:
        raise Refused(
            f"TensorFlow's port cannot be closed to other machines here: {error}.",
            "Train with PS_TASKS=0.",
            PREFLIGHT_FAILED,
        ) from error


def _end_with(parent):
    """Lets the kernel kill this process as soon as `parent` (a process id) is gone, or ends it if it already is."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:
        os._exit(1)


def _serve(parent, task, ports):
    """One server; ends when the pipe that is its standard input closes."""
    _end_with(parent)
    # Ctrl-C reaches all processes of a terminal: the training still has to save what is here.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    import tensorflow.compat.v1 as tf

    server = tf.train.Server(
        _cluster(ports), job_name=PS, task_index=task, start=False, config=tf.ConfigProto(device_count={"GPU": 0})
    )
    socket_filter.restrict(ports[1 + task])
    server.start()
    os.write(1, READY)
    os.dup2(2, 1)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]), [int(port) for port in sys.argv[3:]])
