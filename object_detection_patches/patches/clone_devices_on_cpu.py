"""Patch: clones on the CPU are spread over its virtual devices."""

NAME = "clone_devices_on_cpu"
CURES = "clones on the CPU all share one device"
WHY = (
    "With clone_on_cpu every clone is put on /device:CPU:0, so several clones on a machine without a GPU "
    "are not several devices. Clone i now goes to /device:CPU:i, as it would to GPU i; the variables stay "
    "on CPU:0. The session must have that many CPU devices, or allow soft placement."
)
REPORTS = ("tensorflow/models#6611", "tensorflow/models#3588")
FILES = ("deployment/model_deploy.py",)
ADDS = ()


def transform(path, file):
    """Edits deployment/model_deploy.py."""
    file.replace_expression("'/device:CPU:0'", "'/device:CPU:%d' % clone_index", inside="DeploymentConfig.clone_device")
