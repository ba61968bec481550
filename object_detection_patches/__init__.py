"""The changes this project makes to the TensorFlow 1 Object Detection API; `patches` has one module a patch.

Each patch finds the construct it changes in the API's syntax tree and edits it there, so that no text of the
API is kept in this repository and a tree that has changed is refused instead of patched wrongly.
"""
