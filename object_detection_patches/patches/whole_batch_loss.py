"""Patch: SSD's loss and the mask loss are those of the whole batch, on any number of devices."""

NAME = "whole_batch_loss"
CURES = "two devices take half of one device's step, or one that depends on how the images were dealt"
WHY = (
    "Trainers average the losses of their devices. SSD's is a sum over a device's images: without "
    "normalize_loss_by_num_matches two devices take half the step of one. With it each device divides by "
    "its own matches, so an image weighs more beside images with few objects; the mask loss does the "
    "same. Both are now divided by what was counted on all devices: replicas sum their counts, also over "
    "machines, and the clones' losses are rescaled when all clones are built. Clones of several workers "
    "are asynchronous: each worker's batch stays its own. On one device nothing changes. A learning rate "
    "tuned on several devices with normalize_loss_by_num_matches: false means that many times as much "
    "now."
)
REPORTS = ()
FILES = (
    "object_detection/meta_architectures/ssd_meta_arch.py",
    "object_detection/meta_architectures/faster_rcnn_meta_arch.py",
    "object_detection/legacy/trainer.py",
)
ADDS = ("object_detection/utils/whole_batch.py", "object_detection/utils/replicas.py")


def transform(path, file):
    """Edits the two meta architectures and the legacy trainer."""
    function = {
        "ssd_meta_arch.py": "SSDMetaArch.loss",
        "trainer.py": "train",
        "faster_rcnn_meta_arch.py": "FasterRCNNMetaArch._loss_box_classifier",
    }[path.rsplit("/", 1)[1]]
    file.insert_first("from object_detection.utils import whole_batch", function)
    if path.endswith("ssd_meta_arch.py"):
        file.replace_statement(
            "return loss_dict",
            "return whole_batch.sums(loss_dict, tf.reduce_sum(batch_reg_weights) "
            "if self._normalize_loss_by_num_matches else 0.)",
            inside=function,
        )
    elif path.endswith("faster_rcnn_meta_arch.py"):
        file.replace_statement(
            "loss_dict['Loss/BoxClassifierLoss/mask_loss'] = mask_loss",
            "loss_dict.update(whole_batch.sums({'Loss/BoxClassifierLoss/mask_loss': mask_loss}, "
            "tf.reduce_sum(mask_losses_weights * mask_height * mask_width)))",
            inside=function,
        )
    else:
        file.replace_expression(
            "model_deploy.create_clones(deploy_config, model_fn, [input_queue])",
            "whole_batch.shared(model_deploy.create_clones(deploy_config, model_fn, [input_queue]))",
            inside=function,
        )
