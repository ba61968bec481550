"""Training, evaluation, export and report of one run. docs/architecture.md shows the rooms and the direction."""

__version__ = "2.0.0"
