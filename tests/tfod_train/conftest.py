"""Fixtures that several rooms of tfod_train share."""

import json
import os
import time

import pytest

from tfod_train.devices import gpus


@pytest.fixture
def start(planned_run, project_dir):
    """function(folder, batch_size, **settings): run.json as a training writes it at its start."""
    from tfod_train.config import pipeline
    from tfod_train.run import manifest

    config_path = os.path.join(project_dir, "configs", "ssd_mobilenet_v1_mini_pets.config")

    def write(folder, batch_size=16, start_step=0, **settings):
        folder.mkdir(exist_ok=True)
        config = pipeline.parse(config_path)
        config.train_config.batch_size = batch_size
        manifest.start(planned_run(folder, config, start_step, **settings))
        return json.loads((folder / "run.json").read_text())

    return write


@pytest.fixture(scope="session")
def trained(tiny, tmp_path_factory):
    """A run with checkpoints 2, 4 and 6, all of them evaluated in one go.

    Seeded, for what is compared of its export may hang on two scores that chance makes equal.
    """
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    done = tiny("train", folder, CHECKPOINT_EVERY_STEPS="2", SEED="2")
    assert done.code == 0, done.console
    return tiny("eval", folder)


@pytest.fixture(scope="session")
def exported(tiny, trained):
    """The Run of the export with the run's defaults."""
    return tiny("export", trained.folder)


@pytest.fixture(scope="session")
def training_of():
    """function(folder, terminal, ...) -> the Training of eight steps of 16 images, which needs `protos`."""

    def make(folder, terminal, clock=time.time, gpu_watch=None, beat=lambda: None):
        from google.protobuf import text_format
        from object_detection.protos import pipeline_pb2

        from tfod_train import observers
        from tfod_train.observers.speed import Speed
        from tfod_train.process.console import Console
        from tfod_train.process.health import Health
        from tfod_train.process.signals import StopRequest
        from tfod_train.run.context import Run
        from tfod_train.run.run_dir import RunDir

        config = text_format.Parse(
            "train_config { batch_size: 16 num_steps: 8 }", pipeline_pb2.TrainEvalPipelineConfig()
        )
        return observers.Training(
            Run(None, None, None, None, config, [], RunDir(folder)),
            Console(terminal, clock),
            Speed(16, 0, gpu_watch),
            Health(folder + "/health.json"),
            StopRequest(terminal.write),
            beat,
        )

    return make


@pytest.fixture
def look(mini, tmp_path, read_settings):
    """function(host, **settings) -> Report."""
    from tfod_train.preflight import checks

    def at(host=None, **settings):
        environ = {
            "DEVICE": "cpu",
            "DATASET": str(mini),
            "RUN_DIR": str(tmp_path / "run"),
            "PIPELINE_CONFIG": "configs/ssd_mobilenet_v1_mini_pets.config",
        }
        return checks.look(read_settings(**dict(environ, **settings)), host or gpus.Host())

    return at
