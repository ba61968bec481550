"""From config file and settings to the effective config."""

import glob
import os

import pytest

from common.errors import Refused

pytestmark = pytest.mark.usefixtures("protos")


def test_the_dataset_fills_the_config(effective, dataset):
    config = effective().config
    assert config.model.ssd.num_classes == 3
    assert list(config.train_input_reader.tf_record_input_reader.input_path) == [
        os.path.join(dataset.folder, "pet_faces_train.record-?????-of-00010")
    ]
    reader = config.eval_input_reader[0]
    assert reader.label_map_path == dataset.label_map
    assert (reader.num_epochs, reader.shuffle, config.eval_config.num_examples) == (1, False, 58)


def test_batch_size_is_the_batch_over_all_devices(effective, two_cpus):
    from benchmarks.startup import per_replica
    from tfod_train.config import pipeline

    config = effective(BATCH_SIZE="24").config
    assert pipeline.batch_line(config, two_cpus) == "batch 24 = 2 devices x 12"
    assert per_replica(config, 2).train_config.batch_size == 12
    assert effective(BATCH_SIZE_PER_GPU="12").config.train_config.batch_size == 24


@pytest.mark.parametrize(
    "environ, what, do",
    [
        (
            {"BATCH_SIZE": "5"},
            "BATCH_SIZE=5 does not divide over 2 devices.",
            "Set BATCH_SIZE to 4 or 6, or NUM_GPUS to a divisor of 5.",
        ),
        (
            {"BATCH_SIZE": "1"},
            "BATCH_SIZE=1 does not divide over 2 devices.",
            "Set BATCH_SIZE to 2, or NUM_GPUS to a divisor of 1.",
        ),
        (
            {"NUM_GPUS": "3"},
            "batch_size of the config=16 does not divide over 3 devices.",
            "Set BATCH_SIZE to 15 or 18, or NUM_GPUS to a divisor of 16.",
        ),
    ],
)
def test_a_batch_that_does_not_divide_is_refused_with_sizes_that_do(environ, what, do, effective):
    with pytest.raises(Refused) as refused:
        effective(**environ)
    assert (refused.value.what, refused.value.do, refused.value.code) == (what, do, 2)


@pytest.mark.parametrize("scaling, rate", [("none", 0.004), ("linear", 0.016), ("sqrt", 0.008)])
def test_the_learning_rate_scales_against_the_configs_own_batch(scaling, rate, effective):
    from tfod_train.config import learning_rates

    config = effective(BATCH_SIZE="64", LEARNING_RATE_SCALING=scaling).config
    assert learning_rates.initial(config) == pytest.approx(rate)
    assert learning_rates.schedule(config).warmup_learning_rate == pytest.approx(rate / 10)


def test_a_schedule_that_ended_with_the_run_still_does(effective):
    from tfod_train.config import learning_rates

    shorter, longer = effective(NUM_STEPS="60").config, effective(NUM_STEPS="6000").config
    assert (learning_rates.schedule(shorter).total_steps, learning_rates.schedule(shorter).warmup_steps) == (60, 6)
    assert (learning_rates.schedule(longer).total_steps, learning_rates.schedule(longer).warmup_steps) == (6000, 50)


def test_every_change_is_told(effective):
    assert effective().changes == []
    assert effective(NUM_STEPS="60", BATCH_SIZE="8", USE_MOVING_AVERAGE="0").changes == [
        "batch_size: 16 -> 8 (BATCH_SIZE)",
        "num_steps: 500 -> 60 (NUM_STEPS)",
        "total_steps: 500 -> 60 (the schedule ends with the run)",
        "warmup_steps: 50 -> 6 (its share of a shorter run)",
        "use_moving_average: True -> False (USE_MOVING_AVERAGE)",
        "use_moving_averages: True -> False (USE_MOVING_AVERAGE)",
    ]


def test_a_seed_lets_the_input_come_in_one_order_and_says_so(effective):
    seeded = effective(SEED="0")
    assert seeded.changes == [
        "num_readers: 2 -> 1 (SEED)",
        "num_parallel_map_calls: 2 -> 1 (SEED)",
        "num_batch_queue_threads: 8 -> 1 (SEED)",
    ]
    assert effective().config.train_input_reader.num_readers == 2


def test_a_small_memory_shrinks_the_buffers_that_the_config_leaves_open_and_says_so(
    read_settings, dataset, two_cpus, project_dir
):
    from tfod_train.config import pipeline

    parsed = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_pets.config"))
    dataset.description["splits"]["train"]["shards"] = [{"bytes": 26 * 10**6, "examples": 260}] * 10
    sizes = {side: {"median": pixels} for side, pixels in (("width", 500), ("height", 375))}
    described = dataset._replace(description=dict(dataset.description, image_sizes=sizes))
    settings = read_settings(DEVICE="cpu", FINE_TUNE_CHECKPOINT="none")

    def made(ram):
        return pipeline.effective(parsed, settings, described, two_cpus, ram)

    small, ample = made(10**9), made(32 * 10**9)
    assert ample == made(None)
    why = "so that input fits 1.0 GB of memory"
    assert [change for change in small.changes if change not in ample.changes] == [
        f"num_parallel_batches: 8 -> 1 ({why})",
        f"num_prefetch_batches: 2 -> 1 ({why})",
    ]
    assert small.config.train_input_reader.shuffle_buffer_size == 1024  # the config's own


def test_images_of_different_sizes_cannot_share_a_batch(effective):
    assert effective("faster_rcnn_resnet101_pets", BATCH_SIZE="2").config.train_config.batch_size == 2
    with pytest.raises(Refused) as refused:
        effective("faster_rcnn_resnet101_pets", BATCH_SIZE="4")
    assert "pad_to_max_dimension" in refused.value.do and "BATCH_SIZE=2" in refused.value.do


def test_sync_replicas_is_cleared_and_said(read_settings, dataset, two_cpus, project_dir):
    from tfod_train.config import pipeline

    parsed = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))
    parsed.train_config.sync_replicas = True
    made = pipeline.effective(parsed, read_settings(DEVICE="cpu"), dataset, two_cpus)
    assert not made.config.train_config.sync_replicas
    assert made.changes == ["sync_replicas: true -> false (one machine's devices are always in step)"]
    assert parsed.train_config.sync_replicas  # what was parsed is not changed


def test_a_fine_tune_checkpoint_that_is_not_there_is_refused(effective, tmp_path):
    with pytest.raises(Refused) as refused:
        effective(FINE_TUNE_CHECKPOINT=str(tmp_path / "model.ckpt"))
    assert "is not there" in refused.value.what
    (tmp_path / "model.ckpt.index").write_bytes(b"")
    assert effective(FINE_TUNE_CHECKPOINT=str(tmp_path / "model.ckpt")).config.train_config.fine_tune_checkpoint


def test_a_name_of_the_model_zoo_is_its_checkpoint_and_sets_the_type_that_fits(effective, tmp_path):
    config, changes = effective(FINE_TUNE_CHECKPOINT="ssd_mobilenet_v1_coco", DATA_DIR=str(tmp_path))
    path = str(tmp_path / "zoo" / "ssd_mobilenet_v1_coco_2018_01_28" / "model.ckpt")
    assert config.train_config.fine_tune_checkpoint == path
    assert config.train_config.fine_tune_checkpoint_type == "detection"
    assert "fine_tune_checkpoint_type: none -> detection (the model zoo's are detectors)" in changes


def test_a_type_that_the_config_sets_is_left_alone(read_settings, dataset, two_cpus, project_dir):
    from tfod_train.config import pipeline

    parsed = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))
    parsed.train_config.fine_tune_checkpoint_type = "classification"
    made = pipeline.effective(parsed, read_settings(FINE_TUNE_CHECKPOINT="ssd_mobilenet_v1_coco"), dataset, two_cpus)
    assert made.config.train_config.fine_tune_checkpoint_type == "classification"


def test_a_misspelt_name_of_the_model_zoo_gets_the_nearest(effective):
    with pytest.raises(Refused) as refused:
        effective(FINE_TUNE_CHECKPOINT="ssd_mobilenet_v1_cocoa")
    assert refused.value.do == "Did you mean ssd_mobilenet_v1_coco of the model zoo?"


@pytest.fixture
def with_fields(read_settings, dataset, two_cpus, project_dir):
    """function(change of the config, most_boxes and fields of dataset.json) -> Effective of a Faster R-CNN."""
    from tfod_train.config import pipeline

    def make(change=lambda config: None, most_boxes=1, batch_size="2", **fields):
        parsed = pipeline.parse(os.path.join(project_dir, "configs/faster_rcnn_resnet101_pets.config"))
        change(parsed)
        described = dataset._replace(description=dict(dataset.description, config=fields, most_boxes=most_boxes))
        settings = read_settings(BATCH_SIZE=batch_size, FINE_TUNE_CHECKPOINT="none")
        return pipeline.effective(parsed, settings, described, two_cpus)

    return make


def learn_masks(config):
    config.model.faster_rcnn.second_stage_box_predictor.mask_rcnn_box_predictor.predict_instance_masks = True


def test_a_image_with_more_boxes_than_the_config_allows_raises_the_limit(with_fields):
    config, changes = with_fields(most_boxes=140)
    assert config.train_input_reader.max_number_of_boxes == config.eval_input_reader[0].max_number_of_boxes == 140
    assert "max_number_of_boxes: 100 -> 140 (an image of the dataset has them)" in changes
    generous = with_fields(
        lambda config: setattr(config.train_input_reader, "max_number_of_boxes", 300), most_boxes=140
    )
    assert generous.config.train_input_reader.max_number_of_boxes == 300
    assert with_fields().config.train_input_reader.max_number_of_boxes == 100


@pytest.mark.parametrize("mask_type, number", [("NUMERICAL_MASKS", 1), ("PNG_MASKS", 2)])
def test_masks_are_read_in_the_datasets_form_by_a_model_that_learns_them(with_fields, mask_type, number):
    config = with_fields(learn_masks, load_instance_masks=True, mask_type=mask_type).config
    for reader in (config.train_input_reader, config.eval_input_reader[0]):
        assert (reader.load_instance_masks, reader.mask_type) == (True, number)
    without = with_fields(load_instance_masks=True, mask_type=mask_type).config
    assert not without.train_input_reader.load_instance_masks


def test_a_model_that_learns_masks_from_a_dataset_without_is_refused(with_fields):
    with pytest.raises(Refused) as refused:
        with_fields(learn_masks, load_instance_masks=False)
    assert ("has none" in refused.value.what, refused.value.code) == (True, 2)


def pad_and(*changes):
    def change(config):
        config.model.faster_rcnn.image_resizer.keep_aspect_ratio_resizer.pad_to_max_dimension = True
        for one in changes:
            one(config)

    return change


def test_masks_that_would_be_padded_are_refused_and_boxes_are_not(with_fields):
    """The API's model fails on them while its graph is built, in both trainers and in the evaluation."""
    masks = dict(load_instance_masks=True, mask_type="PNG_MASKS")
    assert with_fields(pad_and(), **masks).config
    with pytest.raises(Refused, match="cannot pad instance masks") as refused:
        with_fields(pad_and(learn_masks), **masks)
    assert refused.value.code == 2 and "BATCH_SIZE=2" in refused.value.do


def test_images_of_different_sizes_may_be_padded_where_there_are_no_masks(with_fields):
    masks = dict(load_instance_masks=True, mask_type="PNG_MASKS")
    for change, way_out in ((lambda config: None, "pad_to_max_dimension: true"), (learn_masks, "fixed_shape_resizer")):
        with pytest.raises(Refused, match="cannot share a batch of 2 a device") as refused:
            with_fields(change, batch_size="4", **masks)
        assert refused.value.do.startswith(f"Set {way_out} in the config")


def test_a_config_that_does_not_parse_is_named_with_its_line(tmp_path):
    from tfod_train.config import pipeline

    path = tmp_path / "broken.config"
    path.write_text("model {\n  ssd {\n    num_clases: 3\n  }\n}\n")
    with pytest.raises(Refused) as refused:
        pipeline.parse(str(path))
    assert "line 3, column 5" in refused.value.what and "num_clases" in refused.value.what


def test_a_misspelt_config_name_gets_the_nearest(read_settings):
    from tfod_train.config import pipeline

    with pytest.raises(Refused) as refused:
        pipeline.find(read_settings(PIPELINE_CONFIG="configs/ssd_mobilenet_v1_minipets.config"), "mini-pets")
    assert refused.value.do == "Did you mean configs/ssd_mobilenet_v1_mini_pets.config?"


def test_every_config_in_the_repository_parses_and_says_what_it_is_for(project_dir):
    from tfod_train.config import pipeline

    paths = glob.glob(os.path.join(project_dir, "configs", "*.config"))
    assert paths
    for path in paths:
        assert pipeline.parse(path).train_config.num_steps > 0
        with open(path) as source:
            assert source.readline().startswith("# ")


def test_without_a_gpu_pets_are_trained_with_the_small_config(read_settings):
    from tfod_train.config import pipeline

    names = [os.path.basename(pipeline.find(read_settings(DEVICE=device), "pets")) for device in ("cpu", "gpu")]
    assert names == ["ssd_mobilenet_v1_small_pets.config", "ssd_mobilenet_v1_pets.config"]


def test_default_configs_exist_for_every_dataset_and_device(read_settings):
    from tfod_train.config import pipeline

    for dataset_name, device in pipeline.DEFAULT_CONFIGS:
        assert os.path.isfile(pipeline.find(read_settings(DEVICE=device), dataset_name))


def test_a_name_of_the_zoo_in_the_config_is_told_where_it_belongs(read_settings, dataset, two_cpus, project_dir):
    from tfod_train.config import pipeline

    parsed = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_pets.config"))
    parsed.train_config.fine_tune_checkpoint = "ssd_mobilenet_v1_coco"
    with pytest.raises(Refused) as refused:
        pipeline.effective(parsed, read_settings(DEVICE="cpu"), dataset, two_cpus)
    assert refused.value.do == (
        "FINE_TUNE_CHECKPOINT=ssd_mobilenet_v1_coco fetches that model of the zoo; in a config it is a path."
    )


class TestRecordsInAConfig:
    """Case: a config of the user's own with its paths filled in, while DATASET means something else."""

    @pytest.fixture
    def trained_on(self, read_settings, dataset, two_cpus, project_dir, protos):
        """function(train path, val path, label map) -> Effective of the built-in config with those paths."""
        from tfod_train.config import pipeline

        def make(train, val="", label_map=""):
            config = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))
            config.train_input_reader.tf_record_input_reader.input_path.append(train)
            config.train_input_reader.label_map_path = label_map
            if val:
                config.eval_input_reader[0].tf_record_input_reader.input_path.append(val)
            return pipeline.effective(config, read_settings(DEVICE="cpu"), dataset, two_cpus)

        return make

    @pytest.mark.parametrize("there", [True, False])
    def test_other_records_are_refused_with_both_names_whether_they_are_there_or_not(
        self, there, trained_on, tmp_path, dataset
    ):
        mine = tmp_path / "mine_train.record"
        if there:
            mine.write_bytes(b"")
        for paths in ((str(mine),), (dataset.patterns("train")[0], str(mine))):
            with pytest.raises(Refused) as refused:
                trained_on(*paths)
            assert refused.value.code == 2
            assert str(mine) in refused.value.what and dataset.patterns("train")[0] in refused.value.what
            assert "DATASET" in refused.value.do

    def test_the_datasets_own_records_and_placeholders_are_trained_on(self, trained_on, dataset, monkeypatch, tmp_path):
        for train, val in (
            ("PATH_TO_BE_CONFIGURED/mscoco_train.record-?????-of-00100", "PATH_TO_BE_CONFIGURED/mscoco_val.record"),
            (dataset.patterns("train")[0], dataset.patterns("val")[0]),
            ("", ""),
        ):
            config = trained_on(train, val).config
            assert list(config.train_input_reader.tf_record_input_reader.input_path) == [dataset.patterns("train")[0]]
        monkeypatch.chdir(str(tmp_path))
        assert trained_on(os.path.relpath(dataset.patterns("train")[0], str(tmp_path)))

    def test_a_label_map_that_is_replaced_is_a_line(self, trained_on, dataset):
        (line,) = [
            one for one in trained_on("", "", "mine/label_map.pbtxt").changes if one.startswith("label_map_path")
        ]
        assert line.startswith(f"label_map_path: mine/label_map.pbtxt -> {dataset.label_map}")
        for label_map in ("PATH_TO_BE_CONFIGURED/mscoco_label_map.pbtxt", dataset.label_map):
            assert not [one for one in trained_on("", "", label_map).changes if one.startswith("label_map_path")]

    def test_shards_that_are_listed_one_by_one_are_the_datasets_when_they_are_all_of_them(
        self, read_settings, dataset, two_cpus, project_dir, protos
    ):
        from tfod_train.config import pipeline

        shards = [dataset.patterns("train")[0].replace("?????", f"{number:05d}") for number in range(10)]
        for path in shards:
            with open(path, "wb"):
                pass
        config = pipeline.parse(os.path.join(project_dir, "configs/ssd_mobilenet_v1_mini_pets.config"))
        paths = config.train_input_reader.tf_record_input_reader.input_path
        paths.extend(shards)
        assert pipeline.effective(config, read_settings(DEVICE="cpu"), dataset, two_cpus)
        del paths[3:]
        with pytest.raises(Refused):
            pipeline.effective(config, read_settings(DEVICE="cpu"), dataset, two_cpus)

    def test_records_of_another_place_that_are_replaced_are_a_line(self, trained_on, dataset):
        def lines(path):
            return [one for one in trained_on(path).changes if one.startswith("input_path")]

        old = f"/no/such/place/mini-pets/{os.path.basename(dataset.patterns('train')[0])}"
        (line,) = lines(old)
        assert line.startswith(f"input_path: {old} -> {dataset.patterns('train')[0]} ")
        for silent in ("", "PATH_TO_BE_CONFIGURED/mscoco_train.record", dataset.patterns("train")[0]):
            assert not lines(silent)

    def test_a_config_from_where_the_data_had_another_place_is_taken(self, trained_on, dataset):
        name = os.path.basename(dataset.patterns("train")[0])
        assert trained_on(f"/no/such/place/mini-pets/{name}")
        with pytest.raises(Refused):
            trained_on(f"/no/such/place/other/{name}")
