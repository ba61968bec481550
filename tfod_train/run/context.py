"""What a training is, decided before it begins and kept whole from there on."""

from typing import Any, List, NamedTuple

from tfod_train.config.dataset import Dataset
from tfod_train.devices.devices import Devices
from tfod_train.run.run_dir import RunDir
from tfod_train.settings import Settings


class Run(NamedTuple):
    """A run as preflight found it.

    config: the effective TrainEvalPipelineConfig, made of the file config_path by `changes` (sentences); its batch_size
    is over all devices. start_step: the step it resumes from, 0 for a new one.
    """

    settings: Settings
    devices: Devices
    dataset: Dataset
    config_path: str
    config: Any
    changes: List[str]
    run_dir: RunDir
    start_step: int = 0

    @property
    def total_steps(self) -> int:
        """The step at which the training ends."""
        return self.config.train_config.num_steps

    @property
    def batch_size(self) -> int:
        """Images a step, over all devices."""
        return self.config.train_config.batch_size

    @property
    def records(self) -> List[str]:
        """File patterns of the training records."""
        return self.config.train_input_reader.tf_record_input_reader.input_path
