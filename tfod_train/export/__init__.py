"""Writes a trained model for those who use it, and compares what was written with the checkpoint."""
