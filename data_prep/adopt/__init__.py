"""Records that somebody made before: read whole, described in a dataset.json, and left as they are."""
