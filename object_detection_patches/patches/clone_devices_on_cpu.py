"""Patch: clones on the CPU are spread over its virtual devices."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    file.replace_expression("'/device:CPU:0'", "'/device:CPU:%d' % clone_index", inside="DeploymentConfig.clone_device")


PATCH = Patch(
    name="clone_devices_on_cpu",
    symptom="On a machine without a GPU, several clones all run on one device.",
    cause="`slim`'s `DeploymentConfig` puts every clone on `/device:CPU:0` with `clone_on_cpu`.",
    cure=(
        "Clone i goes to `/device:CPU:i`, as it would to GPU i; the variables stay on CPU:0. The session must have "
        "as many CPU devices, or allow soft placement."
    ),
    proven_by="`test_every_clone_has_its_own_virtual_device`.",
    files=("deployment/model_deploy.py",),
    transform=transform,
    reports=("tensorflow/models#6611", "tensorflow/models#3588"),
)
