"""Do a model's anchors fit the boxes? The anchors that a config gives, and how well the best of them fits a box."""
