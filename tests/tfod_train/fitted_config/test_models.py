"""The models that configs are written for."""

import pytest

from common.errors import Refused
from tfod_train.checkpoints import model_zoo
from tfod_train.fitted_config import models


def test_a_name_of_the_zoo_means_its_model():
    assert models.find("ssd_mobilenet_v2_coco") is models.MODELS["ssd_mobilenet_v2"]
    assert all(model.zoo is None or model_zoo.find(model.zoo) for model in models.MODELS.values())


def test_a_misspelt_name_gets_the_nearest_and_all():
    with pytest.raises(Refused) as refused:
        models.find("ssd_mobilenet_v3")
    assert refused.value.code == 2 and "Did you mean ssd_mobilenet_v" in refused.value.do
    assert all(name in refused.value.do for name in models.MODELS)
