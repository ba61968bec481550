"""Evaluates checkpoints of a run: which, how, and what is drawn."""
