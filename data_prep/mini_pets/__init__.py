"""The built-in dataset, drawn."""
