"""Names that settings have in other tools, and what is meant here: none of them may be ignored without a word."""

from typing import Dict, Iterable, List, Mapping

from common.text import nearest

_STEPS = "set NUM_STEPS, which counts steps of BATCH_SIZE images"
_EPOCHS = "set NUM_STEPS: epochs times images, divided by BATCH_SIZE"
_RATE = "set LEARNING_RATE"
_SIZE = "set IMAGE_SIZE, the side of the model's input in px"
_BATCH = "set BATCH_SIZE, the images of a step over all devices"
_RUN = "set RUN_DIR"
_GPUS = "set NUM_GPUS, or TRAIN_GPUS=0,1 for certain ones"
_CONFIG = "set PIPELINE_CONFIG"
_DATA = "set DATASET, a folder that make dataset has made"
_WEIGHTS = "set FINE_TUNE_CHECKPOINT"

# Names that nothing else in a shell has: refused wherever they come from.
UNMISTAKABLE: Dict[str, str] = {
    "EPOCHS": _EPOCHS,
    "NUM_EPOCHS": _EPOCHS,
    "N_EPOCHS": _EPOCHS,
    "MAX_EPOCHS": _EPOCHS,
    "NUM_TRAIN_STEPS": _STEPS,
    "TRAIN_STEPS": _STEPS,
    "TRAINING_STEPS": _STEPS,
    "MAX_STEPS": _STEPS,
    "MAX_ITER": _STEPS,
    "ITERATIONS": _STEPS,
    "NUM_ITERATIONS": _STEPS,
    "INITIAL_LEARNING_RATE": _RATE,
    "INIT_LR": _RATE,
    "BASE_LR": _RATE,
    "IMG_SIZE": _SIZE,
    "IMGSZ": _SIZE,
    "INPUT_SIZE": _SIZE,
    "TRAIN_BATCH_SIZE": _BATCH,
    "IMS_PER_BATCH": _BATCH,
    "NUM_CLONES": "set NUM_GPUS; TRAINER=clone trains with clones",
    "N_GPUS": _GPUS,
    "PIPELINE_CONFIG_PATH": _CONFIG,
    "CONFIG_FILE": _CONFIG,
    "TRAIN_DIR": _RUN,
    "DATASET_DIR": _DATA,
    "DATASET_PATH": _DATA,
    "PRETRAINED_WEIGHTS": _WEIGHTS,
    "PRETRAINED_MODEL": _WEIGHTS,
    "RANDOM_SEED": "set SEED",
    "NUM_PS_TASKS": "set PS_TASKS",
    "EARLY_STOPPING_PATIENCE": "set EARLY_STOP_PATIENCE",
}
# Names that a shell may have for other reasons: refused on make's command line and in .env, where they are meant here.
GENERIC: Dict[str, str] = {
    "LR": _RATE,
    "STEPS": _STEPS,
    "BATCH": _BATCH,
    "GPUS": _GPUS,
    "GPU": _GPUS,
    "MODEL_DIR": _RUN,
    "OUTPUT_DIR": _RUN,
    "LOG_DIR": _RUN,
    "LOGDIR": _RUN,
    "CHECKPOINT_DIR": _RUN,
    "SAVE_DIR": _RUN,
    "CONFIG": _CONFIG,
    "CFG": _CONFIG,
    "DATA": _DATA,
    "WEIGHTS": _WEIGHTS,
    "PRETRAINED": _WEIGHTS,
    "PATIENCE": "set EARLY_STOP_PATIENCE",
}


# How names of variables begin that TensorFlow, CUDA, Docker, Python, make and the system read.
OF_PROGRAMS = (
    *("TF_", "TENSORBOARD", "GRPC_", "CUDA_", "NVIDIA_", "NCCL_", "OMP_", "KMP_", "MKL_", "XLA_", "LD_", "MALLOC_"),
    *("DOCKER_", "COMPOSE_", "BUILDKIT_", "PYTHON", "PIP_", "UV_", "PYENV_", "LC_", "XDG_", "SSL_", "AWS_", "S3_"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PATH", "HOME", "TMPDIR", "TERM", "LANG", "TZ", "SHELL", "COLUMNS"),
    *("MAKE", "LAUNCH", "UID", "GID", "CODE_COMMIT", "SOURCE_DATE_EPOCH", "REQUESTS_CA_BUNDLE"),
)


def refusals(environ: Mapping[str, str], meant: Iterable[str] = ()) -> List[str]:
    """A sentence for each variable with another tool's name.

    Args:
        environ: the variables.
        meant: those that were given for this program alone, on make's command line or in .env.
    """
    answers = dict(UNMISTAKABLE)
    answers.update({name: GENERIC[name] for name in meant if name in GENERIC})
    return [
        f"{name}={environ[name]}: there is no such setting; {answers[name]}."
        for name in sorted(answers)
        if environ.get(name, "").strip()
    ]


def unused(environ: Mapping[str, str], meant: Iterable[str]) -> List[str]:
    """A sentence for each variable whose name a shell may have for other reasons; nothing reads it here.

    Args:
        environ: the variables.
        meant: those that are refused instead.
    """
    names = sorted(set(GENERIC) - set(meant))
    return [
        f"{name}={environ[name]} of the environment is not read here; if it was meant, {GENERIC[name]}."
        for name in names
        if environ.get(name, "").strip()
    ]


def unknown(given: Iterable[str], known: Iterable[str]) -> List[str]:
    """A sentence for each variable of make's command line that nothing here reads.

    Args:
        given: names, as of_make returns them. Those that other programs read (OF_PROGRAMS) are left to them.
        known: names of settings and of the command's own variables.
    """
    known = set(known)
    sentences = []
    for name in sorted(set(given) - known - set(UNMISTAKABLE) - set(GENERIC)):
        if name.isupper() and not name.startswith(OF_PROGRAMS):
            near = nearest(name, known)
            sentences.append(
                f"{name}: there is no such setting"
                + (f"; did you mean {near}?" if near else "; docs/settings.md lists them.")
            )
    return sentences


def of_make(flags: str) -> List[str]:
    """The names of the variables in MAKEFLAGS, which make's command line gave it (GNU make: behind ` -- `)."""
    _, _, given = f" {flags}".partition(" -- ")
    words = given.replace("\\ ", "\0").split()
    return [word.partition("=")[0].rstrip(":?+") for word in words if "=" in word]
