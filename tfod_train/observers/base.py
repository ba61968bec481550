"""What an observer is, and what it is given of each step."""

from typing import Any, Dict, List, NamedTuple, Optional


class StepResult(NamedTuple):
    """A step that has ended.

    step: counted from 1 over the whole run. loss: the mean over devices. scalars: the parts of the loss and the
    learning rate by TensorBoard's tag (tfod_train/hooks/summaries.py). image_ids: the ids of its images as
    tfod_train/hooks/image_ids.py reads them, an array a device. began, ended: seconds, of one clock. waited: seconds
    it waited for its input, None where nobody knows.
    """

    step: int
    loss: float
    scalars: Dict[str, float]
    image_ids: List[Any]
    began: float
    ended: float
    waited: Optional[float]


class StepObserver(object):
    """Called around the steps of a training, in their thread: what it does delays the next step.

    What it raises ends the training; a common.errors.Refused says to people why.
    """

    def on_begin(self, step: int) -> None:
        """The session is there; `step` were done before."""

    def on_step(self, result: StepResult) -> Optional[bool]:
        """A step has ended. True ends the training after it, saved."""

    def on_end(self) -> None:
        """No further step comes. Not called where a step failed."""
