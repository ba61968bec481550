"""One image that shows a dataset: images with boxes, classes, box sizes."""
