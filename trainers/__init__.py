"""Training, evaluation and what a run leaves behind. Modules that need TensorFlow are imported late, by entrypoint."""
