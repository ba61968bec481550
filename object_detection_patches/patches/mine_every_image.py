"""Patch: Faster R-CNN's hard example miner looks at every image of a batch."""

NAME = "mine_every_image"
CURES = "with hard_example_miner Faster R-CNN's second stage learns from one image of each device alone"
WHY = (
    "The loop over a batch's images returns in its first turn, so with a hard_example_miner the box "
    "classifier's loss is that of the first image alone, divided by the number of images: the more "
    "devices, the more images count. Every image is now mined, and their losses are added, as "
    "without a miner."
)
REPORTS = ()
FILES = ("object_detection/meta_architectures/faster_rcnn_meta_arch.py",)
ADDS = ("object_detection/utils/mining.py",)


def transform(path, file):
    """Edits object_detection/meta_architectures/faster_rcnn_meta_arch.py."""
    function = "FasterRCNNMetaArch._loss_box_classifier"
    file.insert_first("from object_detection.utils import mining", function)
    file.replace_expression(
        "self._unpad_proposals_and_apply_hard_mining(proposal_boxlists, second_stage_loc_losses, "
        "second_stage_cls_losses, num_proposals)",
        "mining.of_every_image(self._unpad_proposals_and_apply_hard_mining, proposal_boxlists, "
        "second_stage_loc_losses, second_stage_cls_losses, num_proposals)",
        inside=function,
    )
