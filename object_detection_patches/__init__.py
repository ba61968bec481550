"""The changes this project makes to the TensorFlow 1 Object Detection API, one module a patch.

Each patch finds the construct it changes in the API's syntax tree and edits it there, so that no text of the
API is kept in this repository and a tree that has changed is refused instead of patched wrongly. PATCHES is
the order in which they are applied.
"""

PATCHES = (
    "saver_under_strategy",
    "moving_average_under_strategy",
    "lvis_optional",
    "input_map_without_autograph",
    "clone_devices_on_cpu",
    "clone_trainer_session",
    "quantized_clones",
    "input_context_in_training",
    "files_divided_before_shuffling",
    "seeded_input_map",
    "random_crop_takes_the_seed",
    "clones_dequeue_in_order",
    "picture_ids_of_clones",
    "whole_batch_loss",
    "weight_decay_under_strategy",
    "clip_summed_gradient",
    "same_trained_variables",
    "mine_every_picture",
    "same_training_summaries",
)
