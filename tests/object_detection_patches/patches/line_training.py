"""What the trainings of the line model have in common."""

OPTIMIZERS = {
    "momentum": "momentum_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } "
    "momentum_optimizer_value: 0.9 }",
    "rms_prop": "rms_prop_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } }",
    "adam": "adam_optimizer { learning_rate { constant_learning_rate { learning_rate: 0.05 } } }",
}
# The end of the name of a variable's moving average in a checkpoint.
AVERAGE = "/ExponentialMovingAverage"
