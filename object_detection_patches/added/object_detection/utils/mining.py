"""Hard example mining of Faster R-CNN. Added to the API by the tfod-train patch mine_every_image."""

import tensorflow.compat.v1 as tf


def of_every_image(mine, proposal_boxlists, loc_losses, cls_losses, num_proposals):
    """Mines each image of a batch by itself.

    Args:
        mine: function(proposal_boxlists, loc_losses, cls_losses, num_proposals) that mines the first image
            it is given.
        proposal_boxlists: list of BoxList, one per image.
        loc_losses: float tensor [images, proposals].
        cls_losses: float tensor [images, proposals].
        num_proposals: int tensor [images].

    Returns:
        Two scalar tensors: the localization and the classification losses, summed over the images.
    """
    mined = [
        mine([boxlist], loc_losses[i : i + 1], cls_losses[i : i + 1], num_proposals[i : i + 1])
        for i, boxlist in enumerate(proposal_boxlists)
    ]
    return tuple(tf.add_n(losses) for losses in zip(*mined))
