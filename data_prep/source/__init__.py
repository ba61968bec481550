"""What people bring, before a format has read it: images, annotations, classes and splits, and the plan they make."""
