"""Are these records fit for training? Every record is read, every kind of fault is named with its place."""
