"""A pipeline config that fits a dataset, with the reason for each choice as a comment beside it."""
