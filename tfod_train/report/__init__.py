"""A run on one page."""
