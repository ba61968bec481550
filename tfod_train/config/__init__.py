"""The pipeline config: found, completed, judged. No TensorFlow."""
