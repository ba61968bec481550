"""What happens around a step, for both trainers."""
