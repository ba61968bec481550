"""The API's own tests pass on the patched API: those that pass on the API as it comes (`make test-api`).

Each runs in a process of its own, as its authors run it; two at a time, because most of each is one thread.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = [pytest.mark.long, pytest.mark.api_own_tests]

# By time they take, longest first, so that the last to end ends early.
MODULES = (
    "object_detection.eval_util_test",
    "object_detection.exporter_tf1_test",
    "object_detection.legacy.trainer_tf1_test",
    "object_detection.data_decoders.tf_example_decoder_test",
    "object_detection.utils.variables_helper_tf1_test",
    "object_detection.utils.label_map_util_test",
    "object_detection.builders.optimizer_builder_tf1_test",
    "object_detection.core.losses_test",
    "object_detection.metrics.coco_tools_test",
    "object_detection.utils.learning_schedules_test",
    "object_detection.builders.model_builder_tf1_test",
    "object_detection.utils.config_util_test",
)


@pytest.fixture(scope="module")
def results(api_dir, tmp_path_factory):
    """A future of each module's (exit code, output), by its name."""
    folder = str(tmp_path_factory.mktemp("own_tests"))
    environment = dict(os.environ, PYTHONPATH=api_dir, CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="2")

    def run(module):
        # In a folder of their own: some write beside themselves.
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", module],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )
        return done.returncode, done.stdout

    with ThreadPoolExecutor(2) as pool:
        yield {module: pool.submit(run, module) for module in MODULES}


@pytest.mark.parametrize("module", MODULES)
def test_the_apis_own_tests_pass(module, results):
    code, output = results[module].result()
    assert code == 0, output[-3000:]
    # A module in which nothing is found to run ends well too.
    (ran,) = re.findall(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    assert int(ran) >= 3
