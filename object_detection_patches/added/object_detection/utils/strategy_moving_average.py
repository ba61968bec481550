"""Moving averages of the weights under a distribution strategy.

Added to the API by the tfod-train patch moving_average_under_strategy.
"""

from typing import Dict

import tensorflow.compat.v1 as tf
from tensorflow.contrib import opt as tf_opt


class MovingAverageOptimizer(tf_opt.MovingAverageOptimizer):
    """tf.contrib's optimizer, which also works when apply_gradients is called from a replica.

    Without a strategy it is the stock optimizer. Under one, the averages are updated once for all replicas,
    after the weights of the same step, and are saved as `<variable>/ExponentialMovingAverage` as on one
    device.
    """

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the weights and then their averages; takes and returns what tf.train.Optimizer's does."""
        if not tf.distribute.has_strategy():
            return super(MovingAverageOptimizer, self).apply_gradients(grads_and_vars, global_step, name)
        grads_and_vars = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        averaged = [variable for gradient, variable in grads_and_vars if gradient is not None]
        average_op = tf.distribute.get_replica_context().merge_call(self._average, args=(averaged, train_op))
        return tf.group(train_op, average_op, name="train_with_avg")

    def _average(self, strategy, variables, train_ops):
        # Runs once, outside the replicas: the averages are created and updated on every device that holds a
        # weight.
        with tf.control_dependencies(strategy.experimental_local_results(train_ops)):
            average_op = self._ema.apply(variables)
        self._swapped_variable_name_map: Dict[str, str] = {}
        for variable in variables:
            names = [tensor.name.split(":")[0] for tensor in (variable, self._ema.average(variable))]
            self._swapped_variable_name_map.update(zip(names, reversed(names)))
        return average_op
