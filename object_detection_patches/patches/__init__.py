"""The patches, one module each.

A new one is a module here and its line in PATCHES, which is the order in which they are applied.
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
    "image_ids_of_clones",
    "whole_batch_loss",
    "weight_decay_under_strategy",
    "clip_summed_gradient",
    "same_trained_variables",
    "mine_every_image",
    "same_training_summaries",
)
