"""Imports everything a training and an evaluation need, so that a build stops where a run would.

Runs at the end of the image's build and again in its tests.
"""

import importlib
import sys
import warnings
from typing import List

WITHOUT_TENSORFLOW = [
    "numpy",
    "scipy.io",
    "lxml.etree",
    "PIL.Image",
    "matplotlib.pyplot",
    "pycocotools.coco",
    "pycocotools.mask",
    "google_crc32c",
    "jinja2",
    "pydantic",
    "psutil",
    "pynvml",
    "requests",
]
MODULES = WITHOUT_TENSORFLOW + [
    "tensorflow",
    "tf_slim",
    "deployment.model_deploy",
    "nets.mobilenet_v1",
    "object_detection.protos.pipeline_pb2",
    "object_detection.inputs",
    "object_detection.model_lib",
    "object_detection.model_hparams",
    "object_detection.eval_util",
    "object_detection.exporter",
    "object_detection.legacy.trainer",
    "object_detection.metrics.coco_evaluation",
    "object_detection.builders.model_builder",
    "object_detection.utils.visualization_utils",
]


def misplaced() -> List[str]:
    """Modules that came from the base and not from us, as `google.protobuf` does where paths are wrong."""
    names = ["PIL", "lxml", "six"]
    # On Python 3.8 these are NVIDIA's, beside its TensorFlow (FROM_BASE in docker/locks/lock.py).
    names += ["numpy", "google.protobuf"] if sys.version_info < (3, 8) else []
    return [name for name in names if not (sys.modules[name].__file__ or "").startswith(sys.prefix)]


def main() -> None:
    """Imports all; ends with a sentence where one came from the base."""
    # TensorFlow 1.15 says six times at import that numpy will change one day.
    warnings.simplefilter("ignore", FutureWarning)
    for name in MODULES:
        importlib.import_module(name)
    if misplaced():
        sys.exit(f"Not imported from {sys.prefix}, but from the base: {', '.join(misplaced())}.")
    print(f"{len(MODULES)} modules import.")


if __name__ == "__main__":
    main()
