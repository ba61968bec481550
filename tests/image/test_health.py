"""Docker's own view: healthy while the process says so, unhealthy when it falls silent."""

import time

import pytest

pytestmark = pytest.mark.image

SECOND = 10**9
SAY_TRAINING = (
    "import json, time\n"
    "with open('/tmp/tfod-train-health.json', 'w') as out:\n"
    "    json.dump({'phase': 'training', 'at': time.time(), 'fresh_for_secs': 15}, out)\n"
    "time.sleep(120)\n"
)


def every_second(image):
    """The image's own check, asked every second, and believed the first time and from the start."""
    test = image.attrs["Config"]["Healthcheck"]["Test"]
    # 1 ms: 0 would mean the image's start period.
    return dict(test=test, interval=SECOND, timeout=5 * SECOND, retries=1, start_period=SECOND // 1000)


def wait_for_health(container, wanted):
    end = time.time() + 60
    while time.time() < end:
        container.reload()
        if container.attrs["State"]["Health"]["Status"] == wanted:
            return container.attrs["State"]["Health"]["Log"][-1]["Output"]
        time.sleep(0.2)
    raise AssertionError("not {}: {}".format(wanted, container.attrs["State"]["Health"]))


def test_a_training_that_falls_silent_becomes_unhealthy(start, image):
    container = start(["-c", SAY_TRAINING], entrypoint="python", healthcheck=every_second(image))
    assert wait_for_health(container, "healthy").startswith("training, last sign of life")
    assert wait_for_health(container, "unhealthy").startswith("training, last sign of life")


def test_a_container_in_which_nothing_starts_becomes_unhealthy(start, image):
    container = start(["120"], entrypoint="sleep", healthcheck=every_second(image))
    assert wait_for_health(container, "unhealthy") == "nothing has started yet\n"
