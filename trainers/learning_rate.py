"""The learning rate of a step, for both trainers: the tensor that the API's summaries show."""
import tensorflow.compat.v1 as tf

FAMILY = "LearningRate/"        # of the scalar that optimizer_builder's rate is written as, in both trainers


def tensors():
    """[scalar of the learning rate] of the default graph; [] where it has none."""
    written = [op for op in tf.get_default_graph().get_operations()
               if op.type == "ScalarSummary" and FAMILY in op.name]
    return [op.inputs[1] for op in written[:1]]
