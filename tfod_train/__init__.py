"""Training, evaluation, export and report of one run. docs/architecture.md shows the rooms and the direction."""

# The one version of the product: the image's label and tag, and each run.json, have it from here.
__version__ = "2.0.0"
