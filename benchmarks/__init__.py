"""The commands behind the numbers that this project states."""
