"""Raw images and annotations become TFRecords that train: one module a dataset format, one shared writer.

Nothing here imports TensorFlow: a record is a checksum and a protobuf message, and starting in
0.2 s instead of 7 is what makes it pleasant to convert, check and convert again.
"""
