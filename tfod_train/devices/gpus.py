"""What NVIDIA's driver says of this machine's GPUs, and whether this build of TensorFlow can use them.

Questions to the machine are in `look`; everything else decides from its answers, so that tests make those up.
"""

import ast
import ctypes
import glob
import importlib.util
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from tfod_train.devices import nvml

Version = Tuple[int, int]  # major, minor

NEWER_IMAGE = "nvcr.io/nvidia/tensorflow:23.03-tf1-py3"
# The newest generation whose code a CUDA version has (CUDA release notes), and the oldest driver it runs on (CUDA
# compatibility table). 10.0 is that of TensorFlow 1.15's own builds, 12.1 that of NVIDIA's last TensorFlow 1 image.
NEWEST_CAPABILITY: Dict[Version, Version] = {
    (10, 0): (7, 5),
    (10, 1): (7, 5),
    (10, 2): (7, 5),
    (11, 0): (8, 0),
    (11, 1): (8, 6),
    (11, 8): (9, 0),
    (12, 0): (9, 0),
    (12, 1): (9, 0),
}
OLDEST_DRIVER: Dict[Version, Version] = {(10, 0): (410, 48), (12, 1): (530, 30)}
# The oldest on which a data-centre GPU may use the compatibility packages in NVIDIA's image (its release notes).
OLDEST_BRIDGED_DRIVER: Dict[Version, Version] = {(12, 1): (450, 51)}
UNPROVEN = (9, 0)  # nobody has shown this project's trainings on Hopper
# What TensorFlow 1.15 opens when it starts; without one of them it goes on without a GPU.
LIBRARIES: Dict[Version, Tuple[str, ...]] = {
    (10, 0): (
        "libcudart.so.10.0",
        "libcublas.so.10.0",
        "libcufft.so.10.0",
        "libcurand.so.10.0",
        "libcusolver.so.10.0",
        "libcusparse.so.10.0",
        "libcudnn.so.7",
    )
}


class Gpu(NamedTuple):
    """`capability` is the generation as CUDA counts it, for example (7, 0) for a V100."""

    uuid: str
    name: str
    capability: Version


class Host(NamedTuple):
    """Answers of this machine.

    gpus: as NVML lists them. driver: its version, None where NVML does not answer. nvml_error: what NVML said instead
    ("" for no library). hardware: an NVIDIA card is on the PCI bus. kernel_driver: it is loaded, on the host even
    where we are in a container. in_container: we are.
    """

    gpus: Tuple[Gpu, ...] = ()
    driver: Optional[str] = None
    nvml_error: str = ""
    hardware: bool = False
    kernel_driver: bool = False
    in_container: bool = False


def look() -> Host:
    """The Host of this machine; costs milliseconds and no GPU memory."""
    gpus, driver, error = _ask_nvml()
    return Host(
        gpus, driver, error, _nvidia_on_the_pci_bus(), os.path.exists("/proc/driver/nvidia/version"), in_container()
    )


def in_container() -> bool:
    return any(os.path.exists(path) for path in ("/.dockerenv", "/run/.containerenv"))


def why_no_gpu(host: Host) -> Tuple[str, str]:
    """(what is missing, what to do) where the driver shows no GPU."""
    if "VERSION" in host.nvml_error.upper():
        return (
            "the NVIDIA driver in the kernel and its library have different versions",
            "Restart the machine: the driver was updated.",
        )
    if host.driver is not None:
        return "the NVIDIA driver works, but lists no GPU", "Make GPUs visible (TRAIN_GPUS, NVIDIA_VISIBLE_DEVICES)."
    if host.kernel_driver and host.in_container:
        return (
            "the NVIDIA driver is loaded, but this container was started without the NVIDIA runtime",
            "Leave DOCKER_RUNTIME out (its default is nvidia), or give `docker run` --gpus all; for the runtime "
            "install nvidia-container-toolkit on the host.",
        )
    if host.kernel_driver:
        return (
            "the NVIDIA driver is loaded, but its library libnvidia-ml.so.1 does not answer",
            "Install the driver's libraries of the same version (nvidia-smi has to work).",
        )
    if host.hardware:
        return "there is an NVIDIA card, but no driver is loaded", "Install the NVIDIA driver on the host."
    return "this machine has no NVIDIA GPU", "Set DEVICE=cpu to train on virtual CPU devices."


def dotted(version: Version) -> str:
    """`10.0` of (10, 0)."""
    return f"{version[0]}.{version[1]}"


def generation(gpu: Gpu, cuda: Optional[Version]) -> Tuple[str, str, str]:
    """What to say of a GPU and a CUDA version: (level, text, what to do).

    Args:
        gpu: one of the machine's.
        cuda: (major, minor) of the CUDA that TensorFlow was built for, None where unknown.
    """
    of = f"{gpu.name} (compute capability {dotted(gpu.capability)})"
    newest = newest_capability(cuda)
    if cuda is None or newest is None:
        return (
            "warning",
            f"{of}: it is not known which CUDA this TensorFlow was built for",
            "Watch the first steps: an unfit pair hangs for minutes, or gives NaN.",
        )
    fits = f"CUDA {dotted(cuda)} knows GPUs up to {dotted(newest)}"
    if gpu.capability > newest:
        if gpu.capability <= NEWEST_CAPABILITY[(12, 1)]:
            return (
                "error",
                f"{of} is too new: {fits}",
                f"Build on BASE_IMAGE={NEWER_IMAGE} (TensorFlow 1.15.5, CUDA 12.1; docs/gpus.md says what is proven "
                "of it), or train on another GPU.",
            )
        return (
            "error",
            f"{of} is too new: {fits}",
            f"No TensorFlow 1.15 image knows it (the last is {NEWER_IMAGE}); train on another GPU.",
        )
    if gpu.capability >= UNPROVEN:
        return (
            "warning",
            f"{of}: nobody has shown these trainings on this generation",
            "Compare the first losses with a run on another GPU, or on the CPU.",
        )
    return "ok", f"{of}; {fits}", ""


def newest_capability(cuda: Optional[Version]) -> Optional[Version]:
    """The newest generation that a CUDA version knows: that of the newest listed version not above it."""
    known = [version for version in NEWEST_CAPABILITY if cuda is not None and version <= cuda]
    return NEWEST_CAPABILITY[max(known)] if known else None


def driver_fits(driver: Optional[str], cuda: Optional[Version]) -> Optional[Tuple[str, str]]:
    """None where the driver is new enough, else (what is wrong, what to do)."""
    if cuda is None or cuda not in OLDEST_DRIVER:
        return None
    oldest, version = OLDEST_DRIVER[cuda], _driver_version(driver)
    if not version or version >= oldest:
        return None
    return (
        f"the NVIDIA driver {driver} is too old for CUDA {dotted(cuda)}",
        f"Update the driver on the host to {dotted(oldest)} or newer.",
    )


def driver_may_be_bridged(driver: Optional[str], cuda: Optional[Version]) -> bool:
    """Whether NVIDIA's compatibility packages may make up for a driver that is too old; only with data-centre GPUs."""
    oldest = OLDEST_BRIDGED_DRIVER.get(cuda) if cuda else None
    return oldest is not None and _driver_version(driver) >= oldest


def _driver_version(driver):
    """(450, 51) of "450.51.06"; () where the driver is not known."""
    return tuple(int(part) for part in re.findall(r"\d+", driver or "")[:2])


def missing_libraries(cuda: Optional[Version], load: Callable[[str], Any] = ctypes.CDLL) -> List[str]:
    """Names of CUDA libraries that TensorFlow would not find; empty where its needs are not known."""
    missing = []
    for name in LIBRARIES.get(cuda, ()) if cuda else ():
        try:
            load(name)
        except OSError:
            missing.append(name)
    return missing


def cuda_of_tensorflow() -> Optional[Version]:
    """(major, minor) of the CUDA that the installed TensorFlow was built for, without importing it; None if unknown."""
    found = importlib.util.find_spec("tensorflow_core") or importlib.util.find_spec("tensorflow")
    if found is None or found.origin is None:
        return None
    path = os.path.join(os.path.dirname(found.origin), "python", "platform", "build_info.py")
    version = _assigned(path, "cuda_version_number") or _version_of_toolkit()
    return parse_cuda(version)


def parse_cuda(version: Optional[str]) -> Optional[Version]:
    """(major, minor) of a version as text. TensorFlow 1.15 says "10" of its builds for 10.0."""
    numbers = [int(part) for part in re.findall(r"\d+", version or "")[:2]]
    if not numbers:
        return None
    major, minor = (numbers + [0])[:2]
    return major, minor


def _assigned(path, name):
    """The text that a Python file assigns to a name at its top level."""
    try:
        with open(path) as source:
            statements = ast.parse(source.read()).body
    except (OSError, SyntaxError):
        return None
    for statement in statements:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", None) == name:
            return str(ast.literal_eval(statement.value))
    return None


def _version_of_toolkit():
    for path in glob.glob("/usr/local/cuda/version.*"):
        with open(path) as source:
            found = re.search(
                r"CUDA Version (\d+\.\d+)|\"cuda\"\s*:\s*\{[^}]*\"version\"\s*:\s*\"(\d+\.\d+)", source.read()
            )
        if found:
            return found.group(1) or found.group(2)
    return None


def _ask_nvml():
    """(gpus, driver version or None, error text)."""
    try:
        with nvml.session() as pynvml:
            gpus = [
                Gpu(
                    nvml.text(pynvml.nvmlDeviceGetUUID(handle)),
                    nvml.text(pynvml.nvmlDeviceGetName(handle)),
                    tuple(pynvml.nvmlDeviceGetCudaComputeCapability(handle)),
                )
                for handle in nvml.handles(pynvml)
            ]
            return tuple(gpus), nvml.text(pynvml.nvmlSystemGetDriverVersion()), ""
    except nvml.NoAnswer as why:
        return (), None, str(why)


def _nvidia_on_the_pci_bus():
    for path in glob.glob("/sys/bus/pci/devices/*/vendor"):
        try:
            with open(path) as vendor, open(os.path.join(os.path.dirname(path), "class")) as kind:
                # 0x03: display controllers, which NVIDIA's compute cards are as well.
                if vendor.read().strip() == "0x10de" and kind.read().startswith("0x03"):
                    return True
        except OSError:
            continue
    return False
