"""Checkpoints as files: found, checked, kept, put aside. No TensorFlow, but for the values of weights."""
