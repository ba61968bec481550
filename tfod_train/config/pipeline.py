"""From a pipeline config file and the settings to the effective config of a run. Pure but for reading the file.

The config's `batch_size` is always the global batch: images per step over all devices. The API's clone trainer divides
it by the clones itself, the patched input function by the replicas.
"""

import copy
import glob
import math
import os
from typing import Any, List, NamedTuple, Optional

from google.protobuf import text_format
from object_detection.protos import input_reader_pb2, pipeline_pb2

from common.errors import SETTINGS_REFUSED, Refused
from common.project import PROJECT_DIR
from common.text import counted, nearest
from tfod_train.checkpoints import model_zoo
from tfod_train.config import determinism, image_size, input_buffers, learning_rates, pretrained, records, text_proto
from tfod_train.config.dataset import Dataset
from tfod_train.config.override import Override
from tfod_train.devices.devices import Devices
from tfod_train.settings import Settings
from tfod_train.trainer import TRAINERS

# By dataset, then by device: the full-size Pets model would take weeks on a CPU.
DEFAULT_CONFIGS = {
    ("mini-pets", "gpu"): "configs/ssd_mobilenet_v1_mini_pets.config",
    ("mini-pets", "cpu"): "configs/ssd_mobilenet_v1_mini_pets.config",
    ("pets", "gpu"): "configs/ssd_mobilenet_v1_pets.config",
    ("pets", "cpu"): "configs/ssd_mobilenet_v1_small_pets.config",
}


class Effective(NamedTuple):
    """`config` is the TrainEvalPipelineConfig of the run; `changes` says what the file did not say, a line each."""

    config: Any
    changes: List[str]


def find(settings: Settings, dataset_name: str) -> str:
    """Path of the pipeline config file: as given, else relative to the project (the image runs in /).

    Raises:
        Refused: no such file, or no config is known for the dataset.
    """
    named = settings.pipeline_config or default(settings, dataset_name)
    if named is None:
        raise Refused(
            f"There is no default config for the dataset {dataset_name}.",
            "Name one with PIPELINE_CONFIG; configs/ has examples.",
        )
    path = records.find_config(named)
    if path:
        return path
    folder = os.path.join(PROJECT_DIR, "configs")
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    near = nearest(os.path.basename(named), there)
    raise Refused(
        f"PIPELINE_CONFIG={named} is not a file.",
        f"Did you mean configs/{near}?" if near else f"configs/ has {', '.join(there)}.",
    )


def default(settings: Settings, dataset_name: str) -> Optional[str]:
    """The config that a dataset is trained with where none is named; None for a dataset of the user's own."""
    return DEFAULT_CONFIGS.get((dataset_name, settings.device.value))


def parse(path: str) -> Any:
    """TrainEvalPipelineConfig from a text proto file.

    Raises:
        Refused: the file cannot be parsed; the sentence holds line, column and field.
    """
    try:
        with open(path) as source:
            text = source.read()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not a pipeline config: {error}.", "Name a text file as those in configs/.") from error
    return of_text(text, path)


def of_text(text: str, path: str) -> Any:
    """TrainEvalPipelineConfig of a file's text; as parse."""
    config = text_proto.read(text, path)
    if not config.model.WhichOneof("model"):
        raise Refused(f"{path} names no model.", "A pipeline config has model, train_config and input readers.")
    return config


def from_lines(lines: Any) -> Any:
    """TrainEvalPipelineConfig of the lines of a text proto, as run.json holds it; None where they are none.

    Fields that this API does not know, of a run made with another, are left out.
    """
    text = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
    try:
        return text_format.Parse(text, pipeline_pb2.TrainEvalPipelineConfig(), allow_unknown_field=True)
    except text_format.ParseError:
        return None


class Wanted(NamedTuple):
    """What a config is completed by; ram: bytes of memory, None where the input's buffers are left alone."""

    settings: Settings
    dataset: Dataset
    devices: Devices
    ram: Optional[float]


def effective(
    config: Any, settings: Settings, dataset: Dataset, devices: Devices, ram: Optional[float] = None
) -> Effective:
    """The config a run really uses.

    Args:
        config: TrainEvalPipelineConfig as parsed; not changed.
        settings: what the user asked for.
        dataset: to train on.
        devices: to train with.
        ram: bytes of memory that the input's buffers are fitted to; None leaves them as config and API have them.

    Raises:
        Refused: with exit code 2, when a batch does not divide or the resizer cannot batch.
    """
    config, wanted = copy.deepcopy(config), Wanted(settings, dataset, devices, ram)
    changes: List[str] = []
    override = Override(settings.config_override)
    override.merge(config, changes)
    _refuse_other_records(config, dataset)
    for use in (
        _use_dataset,
        _use_image_size,
        _use_batch_size,
        _use_learning_rate,
        _use_steps,
        _use_moving_average,
        _use_fine_tune_checkpoint,
        _use_seed,
        _use_ram,
        _clear_sync_replicas,
    ):
        use(config, wanted, changes)
    override.refuse_undone(config)
    _refuse_unbatchable_shapes(config, devices)
    _refuse_quantised_replicas(config, wanted)
    return Effective(config, changes)


def batch_line(config: Any, devices: Devices) -> str:
    """`batch 24 = 3 devices x 8`."""
    batch = config.train_config.batch_size
    return f"batch {batch} = {counted(devices.count, 'device')} x {batch // devices.count}"


def model_of(config: Any) -> Any:
    """The message of the model's own type (ssd, faster_rcnn, ...)."""
    return getattr(config.model, config.model.WhichOneof("model"))


def differing_fields(old: Any, new: Any, prefix: str = "") -> List[str]:
    """Dotted names of the fields in which two messages of one type differ, with both values, at most 8."""
    differences: List[str] = []
    for field in old.DESCRIPTOR.fields:
        name = prefix + field.name
        ours, theirs = getattr(old, field.name), getattr(new, field.name)
        if ours == theirs:
            continue
        if field.message_type is not None and field.label != field.LABEL_REPEATED:
            differences += differing_fields(ours, theirs, name + ".")
        else:
            differences.append(f"{name} ({_short(ours)}, now {_short(theirs)})")
    return differences[:8]


def _short(value):
    text = " ".join(str(value).split())
    return text if len(text) <= 40 else text[:37] + "..."


def _set(message, field, value, changes, why):
    old = getattr(message, field)
    if old != value:
        setattr(message, field, value)
        changes.append(f"{field}: {_short(old) if old != '' else 'none'} -> {value} ({why})")


def _refuse_other_records(config, dataset):
    """A config that names other records than the dataset's asks for two trainings at once."""
    readers = [(config.train_input_reader, "train")] + [(reader, "val") for reader in config.eval_input_reader]
    others: List[str] = []
    for reader, split in readers:
        paths = records.filled_in(reader.tf_record_input_reader.input_path)
        if paths and not _are_records_of(paths, dataset.patterns(split)):
            others += paths
    if others:
        raise Refused(
            f"The config names the records {', '.join(others[:3])}, and the dataset {dataset.name} "
            f"({dataset.found_how}) has {_some(dataset.patterns('train'))}.",
            f"Name the dataset of those records with DATASET, or write {records.PLACEHOLDER} for them in the config: "
            "then it trains on the dataset.",
            SETTINGS_REFUSED,
        )


def _some(names):
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _are_records_of(paths, patterns):
    """Whether paths (patterns, too) are the files of a dataset's patterns: all of them together, or, where none of them
    is there, by the names of folder and file, as those of a config that was made where the data had another place."""
    named = _real_files(paths)
    if named:
        return named == _real_files(patterns)
    ends = {tuple(os.path.abspath(pattern).split(os.sep)[-2:]) for pattern in patterns}
    return all(tuple(os.path.abspath(path).split(os.sep)[-2:]) in ends for path in paths)


def _real_files(patterns):
    return {os.path.realpath(name) for pattern in patterns for name in glob.glob(pattern)}


def _use_dataset(config, wanted, changes):
    model, dataset = model_of(config), wanted.dataset
    _set(model, "num_classes", dataset.description["num_classes"], changes, "the label map's classes")
    if not config.eval_input_reader:
        config.eval_input_reader.add()
    readers = ((config.train_input_reader, "train", True), (config.eval_input_reader[0], "val", False))
    for reader, split, shuffle in readers:
        _use_records(reader.tf_record_input_reader.input_path, dataset.patterns(split), changes)
        named = reader.label_map_path
        if (
            named
            and records.PLACEHOLDER not in named
            and os.path.realpath(named) != os.path.realpath(dataset.label_map)
        ):
            changes.append(f"label_map_path: {_short(named)} -> {dataset.label_map} (the {split} records' dataset)")
        reader.label_map_path = dataset.label_map
        reader.shuffle = shuffle and reader.shuffle
    if len(config.eval_input_reader) > 1:
        left_out = counted(len(config.eval_input_reader) - 1, "more reader")
        changes.append(f"eval_input_reader: {left_out} left out (the val split of {dataset.name} is evaluated)")
        del config.eval_input_reader[1:]
    # Every image once: the API's readers repeat for ever unless told otherwise.
    config.eval_input_reader[0].num_epochs = 1
    config.eval_input_reader[0].include_source_id = True  # finds the image again for drawing
    config.eval_config.num_examples = dataset.examples("val")
    config.eval_config.batch_size = 1
    config.eval_config.retain_original_images = True  # so that there is something to draw on
    _set(config.eval_input_reader[0], "sample_1_of_n_examples", 1, changes, "every validation image is evaluated")
    _use_most_boxes(config, wanted, changes)
    _use_masks(config, wanted, changes)


def _use_records(paths, patterns, changes):
    """Puts a dataset's patterns in the place of a reader's paths; a line where those are files of another place."""
    named = records.filled_in(paths)
    elsewhere = {os.path.realpath(path) for path in named} != {os.path.realpath(pattern) for pattern in patterns}
    if named and elsewhere and not any(glob.glob(path) for path in named):
        changes.append(f"input_path: {_some(named)} -> {_some(patterns)} (not there; the dataset's have that name)")
    del paths[:]
    paths.extend(patterns)


def _use_most_boxes(config, wanted, changes):
    dataset = wanted.dataset
    # What is over a reader's limit is cut off without a word: those objects would be background. (The field of the
    # same name in train_config is not read by the API any more.)
    for reader in (config.train_input_reader, config.eval_input_reader[0]):
        if dataset.most_boxes > reader.max_number_of_boxes:
            _set(reader, "max_number_of_boxes", dataset.most_boxes, changes, "an image of the dataset has them")


def _use_masks(config, wanted, changes):
    """Masks are read by models that learn them, in the form that the records hold."""
    dataset = wanted.dataset
    if not (_learns_masks(config) or config.train_input_reader.load_instance_masks):
        return
    if dataset.mask_type is None:
        raise Refused(
            f"The config trains on instance masks, and the dataset {dataset.name} has none.",
            "Convert it again with --masks png, or take a config without masks.",
            SETTINGS_REFUSED,
        )
    mask_type = input_reader_pb2.InstanceMaskType.Value(dataset.mask_type)
    for reader in (config.train_input_reader, config.eval_input_reader[0]):
        _set(reader, "load_instance_masks", True, changes, "the model learns masks")
        if reader.mask_type != mask_type:
            reader.mask_type = mask_type
            changes.append(f"mask_type: {dataset.mask_type} (so are the dataset's)")


def _learns_masks(config):
    model = model_of(config)
    return hasattr(model, "second_stage_box_predictor") and (
        model.second_stage_box_predictor.mask_rcnn_box_predictor.predict_instance_masks
    )


def _use_batch_size(config, wanted, changes):
    settings, devices = wanted.settings, wanted.devices
    own = config.train_config.batch_size
    batch, name = own, "batch_size of the config"
    if settings.batch_size:
        batch, name = settings.batch_size, "BATCH_SIZE"
    elif settings.batch_size_per_gpu:
        batch, name = settings.batch_size_per_gpu * devices.count, "BATCH_SIZE_PER_GPU"
    if batch % devices.count:
        below = batch // devices.count * devices.count
        fitting = [str(size) for size in (below, below + devices.count) if size]
        raise Refused(
            f"{name}={batch} does not divide over {devices.count} devices.",
            f"Set BATCH_SIZE to {' or '.join(fitting)}, or NUM_GPUS to a divisor of {batch}.",
        )
    _set(config.train_config, "batch_size", batch, changes, name)
    scaling = settings.learning_rate_scaling.value
    if scaling != "none" and batch != own:
        ratio = float(batch) / own
        factor = ratio if scaling == "linear" else math.sqrt(ratio)
        learning_rates.scale(config, factor)
        changes.append(f"learning rate x {factor:.4g} (LEARNING_RATE_SCALING={scaling}, batch {batch} against {own})")


def _use_image_size(config, wanted, changes):
    if wanted.settings.image_size:
        image_size.use(
            model_of(config).image_resizer,
            wanted.settings.image_size,
            lambda message, field, value: _set(message, field, value, changes, "IMAGE_SIZE"),
        )


def _use_learning_rate(config, wanted, changes):
    if wanted.settings.learning_rate is not None:
        learning_rates.use(config, wanted.settings.learning_rate, changes)


def _use_steps(config, wanted, changes):
    settings = wanted.settings
    train = config.train_config
    old = train.num_steps
    if not (settings.num_steps or old):
        raise Refused("Neither the config nor NUM_STEPS says how many steps to train.", "Set NUM_STEPS.")
    if not settings.num_steps or settings.num_steps == old:
        return
    _set(train, "num_steps", settings.num_steps, changes, "NUM_STEPS")
    schedule = learning_rates.schedule(config)
    # A cosine that ends with the run keeps ending with the run: past its end the rate is 0 and nothing is learned.
    if schedule is not None and hasattr(schedule, "total_steps") and schedule.total_steps == old:
        warmup = min(schedule.warmup_steps, schedule.warmup_steps * train.num_steps // old)
        _set(schedule, "total_steps", train.num_steps, changes, "the schedule ends with the run")
        _set(schedule, "warmup_steps", warmup, changes, "its share of a shorter run")


def _use_moving_average(config, wanted, changes):
    settings = wanted.settings
    if settings.use_moving_average is None:
        return
    _set(
        config.train_config.optimizer, "use_moving_average", settings.use_moving_average, changes, "USE_MOVING_AVERAGE"
    )
    _set(config.eval_config, "use_moving_averages", settings.use_moving_average, changes, "USE_MOVING_AVERAGE")


def _use_fine_tune_checkpoint(config, wanted, changes):
    settings = wanted.settings
    train = config.train_config
    if settings.fine_tune_checkpoint:
        of_the_zoo = model_zoo.find(settings.fine_tune_checkpoint)
        if of_the_zoo:
            # Whether it was fetched is zoo.ensure's to see to.
            _set(
                train,
                "fine_tune_checkpoint",
                model_zoo.checkpoint(of_the_zoo, settings.data_dir),
                changes,
                f"FINE_TUNE_CHECKPOINT={settings.fine_tune_checkpoint}",
            )
            _use_zoo_type(train, changes)
            return
    asked = settings.fine_tune_checkpoint or train.fine_tune_checkpoint
    located = pretrained.locate("" if settings.fine_tune_checkpoint == "none" else asked)
    why = f"{asked}: {located.how}" if located.how else "FINE_TUNE_CHECKPOINT"
    _set(train, "fine_tune_checkpoint", located.checkpoint, changes, why)
    if not train.fine_tune_checkpoint:
        return
    if not os.path.exists(train.fine_tune_checkpoint + ".index"):
        raise Refused(
            f"fine_tune_checkpoint {train.fine_tune_checkpoint} is not there (no .index file of that name).",
            _where_else(train.fine_tune_checkpoint),
        )
    pretrained.keep_head(train, lambda message, field, value, why: _set(message, field, value, changes, why))


def _where_else(path):
    if model_zoo.find(path):
        return f"FINE_TUNE_CHECKPOINT={path} fetches that model of the zoo; in a config it is a path."
    near = model_zoo.near(path)
    if near:
        return f"Did you mean {near} of the model zoo?"
    short = ", ".join(name for name in model_zoo.names() if name not in model_zoo.ZOO)
    return (
        "Set FINE_TUNE_CHECKPOINT to a checkpoint's path without .index, to a run's folder, to a name of the model zoo "
        f"({short}), or to none."
    )


def _use_zoo_type(train, changes):
    # The API takes an unset type for `classification`, unless from_detection_checkpoint says otherwise.
    if not train.fine_tune_checkpoint_type and not train.from_detection_checkpoint:
        _set(train, "fine_tune_checkpoint_type", model_zoo.CHECKPOINT_TYPE, changes, "the model zoo's are detectors")


def _use_seed(config, wanted, changes):
    settings = wanted.settings
    if settings.seed is not None:
        determinism.order_input(config, lambda message, field, value: _set(message, field, value, changes, "SEED"))


def _use_ram(config, wanted, changes):
    ram, described = wanted.ram, input_buffers.records(wanted.dataset.description)
    if ram is None or described is None:
        return
    boxes = wanted.dataset.most_boxes if config.train_input_reader.load_instance_masks else 0
    asked = input_buffers.of(config, TRAINERS[wanted.settings.trainer.value], wanted.devices.count, described, boxes)
    for message, field, value in input_buffers.fitting(asked, ram):
        _set(message, field, value, changes, f"so that input fits {ram / 1e9:.1f} GB of memory")


def _clear_sync_replicas(config, wanted, changes):
    # The API's clone trainer refuses it with several clones, and it means nothing on one machine.
    if config.train_config.sync_replicas:
        config.train_config.sync_replicas = False
        changes.append("sync_replicas: true -> false (one machine's devices are always in step)")


def _refuse_unbatchable_shapes(config, devices):
    resizer = model_of(config).image_resizer
    if resizer.WhichOneof("image_resizer_oneof") != "keep_aspect_ratio_resizer":
        return
    share = config.train_config.batch_size // devices.count
    padded, masks = resizer.keep_aspect_ratio_resizer.pad_to_max_dimension, _learns_masks(config)
    if padded and masks:
        # The model resizes them once more beside an image of one channel, which the padding of three refuses.
        raise Refused(
            "The API cannot pad instance masks (pad_to_max_dimension in the config).",
            f"Take it out, with BATCH_SIZE={devices.count} (one image a device), or take fixed_shape_resizer.",
            SETTINGS_REFUSED,
        )
    if share > 1 and not padded:
        raise Refused(
            "keep_aspect_ratio_resizer gives images of different sizes, which cannot share a batch of "
            f"{share} a device.",
            f"Set {'fixed_shape_resizer' if masks else 'pad_to_max_dimension: true'} in the config, or "
            f"BATCH_SIZE={devices.count} (one image a device).",
            SETTINGS_REFUSED,
        )


def _refuse_quantised_replicas(config, wanted):
    # tf.contrib.quantize rewrites the whole graph from the first replica, while the others are still being built.
    trainer, devices = wanted.settings.trainer.value, wanted.devices
    if config.HasField("graph_rewriter") and not TRAINERS[trainer].quantises_replicas and devices.count > 1:
        raise Refused(
            f"Quantised training (graph_rewriter in the config) works on one device with TRAINER={trainer}, "
            f"not on {devices.count}.",
            "Set TRAINER=clone, which trains it on several, or NUM_GPUS=1.",
            SETTINGS_REFUSED,
        )
