"""docs/patches.md, made from what the patches say of themselves."""

import re
import textwrap
from typing import Sequence

from object_detection_patches.patch import Patch

_WIDTH = 120

_INTRODUCTION = """\
# The patches

What tfod-train changes in the TensorFlow 1 Object Detection API, a section a patch. Each is an edit of the API's syntax
tree in `object_detection_patches/patches/NAME.py`; `python -m object_detection_patches diff DIR` prints what all of
them change. Generated from those files by `python -m object_detection_patches docs`.

Every patch can be left out: `python -m object_detection_patches apply DIR --without NAME` makes DIR hold all the
others, also where NAME was applied before. `pytest --without-patch NAME` runs the tests on an API without it: of those
in `tests/object_detection_patches/`, the ones named under *Proven by* then fail, and no others; trainings in
`tests/end_to_end/` that cannot do without the patch fail too.
`.venv/bin/python -m tests.object_detection_patches.without_each` runs them without each patch in turn and says whether
that is so.

The patches also apply to tensorflow/models as of 2022-06-03, a year after the commit they are made for, with its
Windows line ends: `test_every_patch_finds_what_it_changes`, `test_windows_line_ends_stay_and_the_files_are_python`.
"""

# What stands before the first of several patches and concerns them all, by its name.
_BEFORE = {
    "whole_batch_loss": """
## One step on one device, two replicas and two clones

The six patches that follow make the two trainers, on any number of devices, the same optimisation.
`tests/object_detection_patches/test_one_optimisation.py` takes one step from the same checkpoint with the same four
images on one device, on two replicas and on two clones, and compares every variable and optimizer slot: SSD and Faster
R-CNN of two convolutions with the API's own losses, in every pair of normalisation by matches, clipping, weight decay
and momentum, RMSProp or Adam for SSD, and with each of these for Faster R-CNN; MobileNet with frozen batch norm as
well. "Largest change" is by how much the step changes the variable or slot that it changes most, "off" how far
the farthest ends from one device. Measured on two CPU devices:

| case | largest change | replicas off, stock | clones off, stock | off, patched |
|---|---|---|---|---|
| SSD, normalised by matches, momentum | 0.97 | 1.03 | 1.03 | 4e-7 |
| SSD, not normalised, momentum | 6.8 | 3.4 | 3.4 | 3e-6 |
| SSD, clipping (norm 1), weight decay | 0.27 | 0.27 | 0.44 | 9e-8 |
| SSD MobileNet v1, clipping (norm 0.5), weight decay | 0.089 | 0.079 | 0.22 | 4e-8 |
| Faster R-CNN, no weight decay | 0.53 | 7e-8 | 7e-8 | 7e-8 |
| Faster R-CNN, weight decay | 0.53 | 0.003 | 7e-8 | 7e-8 |
| Faster R-CNN, bias_grad_multiplier and freeze_variables | 1.05 | 7e-8 | 0.53 | 1e-7 |
| Faster R-CNN, hard_example_miner | 0.41 | 0.14 | 0.14 | 1e-7 |
| Mask R-CNN | 0.54 | 0.009 | 0.009 | 2e-7 |

Faster R-CNN ResNet-50 (clipping, weight decay) was measured by hand: 1.2e-7 off, patched. It is not in the tests,
because building it five times takes minutes. Not part of the comparison: batch norm that trains (each device normalises
over its own images), dropout and random sampling (each device draws its own), and clones of several workers, which take
steps of their own.
"""
}


def markdown(patches: Sequence[Patch]) -> str:
    """Makes the page.

    Args:
        patches: in the order of their sections.

    Returns:
        The text of docs/patches.md.
    """
    page = _INTRODUCTION
    for patch in patches:
        page += f"{_BEFORE.get(patch.name, '')}\n## {patch.name}\n\n{_paragraph(patch)}\n"
    return "\n\n".join(_filled(block) for block in page.strip().split("\n\n")) + "\n"


def _paragraph(patch: Patch) -> str:
    changes = f"*Changes* {_listed(patch.files)}"
    if patch.adds:
        changes += f"; *adds* {_listed(patch.adds)}"
    without = f"`python -m object_detection_patches apply DIR --without {patch.name}`"
    if patch.without:
        without += f"; {patch.without}"
    parts = [
        f"*Symptom.* {patch.symptom}",
        f"*Reports:* {', '.join(patch.reports)}." if patch.reports else "",
        f"*Cause.* {patch.cause}",
        f"*What we do.* {patch.cure}",
        f"{changes}.",
        f"*Proven by* {patch.proven_by}",
        f"*Without it:* {without}.",
    ]
    return " ".join(filter(None, parts))


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _filled(block: str) -> str:
    if block.startswith(("#", "|")):
        return block
    # What is in backticks stays on one line, so that a command can be copied and a name searched for; labels do, too.
    text = re.sub(r"`[^`]+`|\*\w[^*`]*\*", lambda code: code.group().replace(" ", "\0"), " ".join(block.split()))
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False).replace("\0", " ")
