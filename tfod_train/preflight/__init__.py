"""Can this training work here? All that can be known before TensorFlow is imported."""
