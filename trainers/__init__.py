"""Training, evaluation and what a run leaves behind. Modules that need TensorFlow are imported late, by entrypoint."""

# The one version of the product: the image's label and tag, and each run.json, have it from here.
__version__ = "2.0.0"
