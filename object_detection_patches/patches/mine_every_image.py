"""Patch: Faster R-CNN's hard example miner looks at every image of a batch."""

from typing import TYPE_CHECKING

from object_detection_patches.patch import Patch

if TYPE_CHECKING:
    from object_detection_patches.edits import File


def transform(path: str, file: "File") -> None:
    function = "FasterRCNNMetaArch._loss_box_classifier"
    file.insert_first("from object_detection.utils import mining", function)
    file.replace_expression(
        "self._unpad_proposals_and_apply_hard_mining(proposal_boxlists, second_stage_loc_losses, "
        "second_stage_cls_losses, num_proposals)",
        "mining.of_every_image(self._unpad_proposals_and_apply_hard_mining, proposal_boxlists, "
        "second_stage_loc_losses, second_stage_cls_losses, num_proposals)",
        inside=function,
    )


PATCH = Patch(
    name="mine_every_image",
    symptom="Faster R-CNN with a `hard_example_miner` learns its second stage from one image of each device's batch.",
    cause=(
        "The loop over images returns in its first turn, and the first image's loss is divided by the number of "
        "images: the more devices, the more images count."
    ),
    cure=(
        "Each image is mined, and the losses are added, as without a miner; this also changes training on one "
        "device with more than one image a step."
    ),
    proven_by="the case `faster_rcnn_mining`.",
    files=("object_detection/meta_architectures/faster_rcnn_meta_arch.py",),
    transform=transform,
    adds=("object_detection/utils/mining.py",),
)
