"""A run and its folder: what it is made of, what it left behind, who may write in it."""
