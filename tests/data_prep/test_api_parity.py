"""On the same files the API's converters and ours write the same features, but for what docs/data.md lists."""

import io
import json
import os
import random
import shutil
import subprocess
import sys

import numpy
import pytest
from PIL import Image

from data_prep.formats import coco, pets, voc
from data_prep.tfrecord import codec
from data_prep.writer.dataset import Limits, label_map_text
from tests.data_prep.prepared import prepare

pytestmark = pytest.mark.tensorflow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "..", "shared", "data", "pets-sample")
PETS = {
    "faces": (pets.Options(), {"faces_only": True}),
    "png": (pets.Options("body", "png"), {"faces_only": False, "mask_type": "png"}),
    "numerical": (pets.Options("body", "numerical"), {"faces_only": False, "mask_type": "numerical"}),
}
MASK, LABELS = "image/object/mask", "image/object/class/label"
ENDS = ("image/object/bbox/xmax", "image/object/bbox/ymax")
VOC_CLASSES = ("cat", "dog", "Vogel im Käfig")


def write_voc(root, encode):
    """VOCdevkit/VOC2007 with 12 images, the API's list of the training set, and ours of train and val."""
    folder = os.path.join(root, "VOC2007")
    for name in ("Annotations", "JPEGImages", "ImageSets/Main"):
        os.makedirs(os.path.join(folder, name))
    stems = [f"image {number}" if number % 2 else f"bild_ä{number}" for number in range(12)]
    for number, stem in enumerate(stems):
        with open(os.path.join(folder, "JPEGImages", stem + ".jpg"), "wb") as out:
            out.write(encode(size=(64 + number, 48)))
        objects = "".join(
            f"<object><name>{VOC_CLASSES[(number + extra) % 3]}</name><pose>Left</pose>"
            f"<truncated>{number % 2}</truncated><difficult>{extra % 2}</difficult>"
            f"<bndbox><xmin>{1 + number}</xmin><ymin>2</ymin><xmax>40</xmax><ymax>45.5</ymax></bndbox>"
            "<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></part>"
            "</object>"
            for extra in range(number % 3)
        )
        with open(os.path.join(folder, "Annotations", stem + ".xml"), "w", encoding="utf-8") as out:
            out.write(
                f"<annotation><folder>VOC2007</folder><filename>{stem}.jpg</filename>"
                f"<size><width>{64 + number}</width><height>48</height><depth>3</depth></size>{objects}</annotation>"
            )
    for name, part in (("train", stems[:8]), ("val", stems[8:])):
        with open(os.path.join(folder, "ImageSets", "Main", name + ".txt"), "w", encoding="utf-8") as out:
            out.writelines(stem + "\n" for stem in part)
    # The API's converter splits its lines at blanks, so it gets the images without one.
    with open(os.path.join(folder, "ImageSets", "Main", "aeroplane_train.txt"), "w", encoding="utf-8") as out:
        out.writelines(f"{stem} -1\n" for stem in stems[:8] if " " not in stem)
    return folder


COCO_IMAGES = [f"Bengal_{number}" for number in range(1, 31)]  # of mini-pets; Bengal_5 is a PNG called .jpg
OVER_THE_EDGE, FAR_OUTSIDE, ALL_OUTSIDE = "Bengal_7", "Bengal_8", "Bengal_10"


def write_coco(root, mini_raw):
    """images/ and instances_{train,val}.json: up to three polygons an image, every fourth with a crowd's RLE."""
    os.makedirs(os.path.join(root, "images"))
    rng = random.Random(5)
    images, annotations = [], []
    for number, stem in enumerate(COCO_IMAGES):
        path = os.path.join(root, "images", stem + ".jpg")
        shutil.copyfile(os.path.join(mini_raw, "images", stem + ".jpg"), path)
        width, height = Image.open(path).size
        images.append({"id": 500 + 3 * number, "file_name": stem + ".jpg", "width": width, "height": height})
        for _ in range(number % 4):
            polygon = [rng.uniform(0, side) for _ in range(5) for side in (width, height)]
            annotations.append(annotated(images[-1], rng, [polygon, [1, 2, 8, 2, 8, 9]], 0))
        if number % 4 == 3:
            first, run = rng.randrange(width * height // 2), rng.randrange(1, width * height // 2)
            runs = {"size": [height, width], "counts": [first, run, width * height - first - run]}
            annotations.append(annotated(images[-1], rng, runs, 1))
        for name, box in ((OVER_THE_EDGE, [3, 4, width - 2.5, 20]), (FAR_OUTSIDE, [3, 4, width + 20, 20])):
            if stem == name:
                annotations.append(dict(annotated(images[-1], rng, [[3, 4, 20, 4, 20, 24]], 0), bbox=box))
    for item in annotations:
        if item["image_id"] == images[COCO_IMAGES.index(ALL_OUTSIDE)]["id"]:
            item["bbox"] = [5, 5, 10, 500]
    for number, item in enumerate(annotations):
        item["id"] = 1000 + number
    categories = [{"id": 7, "name": "dog"}, {"id": 3, "name": "Vogel im Käfig"}, {"id": 90, "name": "cat"}]
    for name, part in (("train", images[:20]), ("val", images[20:])):
        ids = {image["id"] for image in part}
        with open(os.path.join(root, f"instances_{name}.json"), "w") as out:
            json.dump(
                {
                    "images": part,
                    "annotations": [item for item in annotations if item["image_id"] in ids],
                    "categories": categories,
                },
                out,
            )
    return root


def annotated(image, rng, segmentation, crowd):
    x, y = rng.uniform(0, image["width"] - 20), rng.uniform(0, image["height"] - 20)
    return {
        "image_id": image["id"],
        "category_id": rng.choice((3, 7, 90)),
        "iscrowd": crowd,
        "area": rng.uniform(1, 900),
        "bbox": [round(x, 2), round(y, 2), round(rng.uniform(1, 19), 2), 18],
        "segmentation": segmentation,
    }


@pytest.fixture(scope="session")
def sources(mini, tmp_path_factory, encode):
    found = {
        "drawn": str(mini / "raw"),
        "voc": write_voc(str(tmp_path_factory.mktemp("devkit")), encode),
        "coco": write_coco(str(tmp_path_factory.mktemp("coco")), str(mini / "raw")),
    }
    if os.path.isdir(SAMPLE):
        found["real"] = SAMPLE
    return found


@pytest.fixture(scope="session")
def api(sources, pristine_api, tmp_path_factory):
    """function(source, case) -> the folder of what the API's converter wrote."""
    root = tmp_path_factory.mktemp("api records")
    for name, classes in (("pets", pets.CLASSES), ("voc", VOC_CLASSES)):
        (root / (name + ".pbtxt")).write_text(label_map_text(classes), encoding="utf-8")
    jobs = [
        {
            "converter": "pet",
            "flags": dict(
                flags,
                data_dir=sources[source],
                output_dir=str(root / source / case),
                label_map_path=str(root / "pets.pbtxt"),
                num_shards=10,
            ),
        }
        for source in ("drawn", "real")
        if source in sources
        for case, (_, flags) in PETS.items()
    ]
    jobs.append(
        {
            "converter": "pascal",
            "flags": {
                "data_dir": os.path.dirname(sources["voc"]),
                "year": "VOC2007",
                "set": "train",
                "label_map_path": str(root / "voc.pbtxt"),
                "output_path": str(root / "voc" / "train" / "shard"),
            },
        }
    )
    images, jsons = (os.path.join(sources["coco"], name) for name in ("images", "instances_%s.json"))
    for case, with_masks in (("boxes", False), ("png", True)):
        files = {
            f"{flag}_annotations_file": jsons % split
            for flag, split in (("train", "train"), ("val", "val"), ("testdev", "val"))
        }
        jobs.append(
            {
                "converter": "coco",
                "flags": dict(
                    files,
                    train_image_dir=images,
                    val_image_dir=images,
                    test_image_dir=images,
                    include_masks=with_masks,
                    output_dir=str(root / "coco" / case),
                ),
            }
        )
    for job in jobs:
        os.makedirs(job["flags"].get("output_dir") or os.path.dirname(job["flags"]["output_path"]))
    (root / "jobs.json").write_text(json.dumps(jobs))
    subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(__file__), "api_converters.py"), str(root / "jobs.json")],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=pristine_api, LANG="C.UTF-8"),
    )
    return lambda source, case: str(root / source / case)


def read(folder, name):
    """[(source id, features)] of a shard, in order."""
    decoded = [codec.decode(payload) for payload in codec.read(os.path.join(folder, name))]
    return [(features["image/source_id"][0].decode("utf-8"), features) for features in decoded]


def shards(folder):
    return sorted(name for name in os.listdir(folder) if ".record-" in name)


@pytest.mark.parametrize("source", ["drawn", "real"])
@pytest.mark.parametrize("case", sorted(PETS))
def test_pets_are_the_api_converters(api, sources, source, case, tmp_path):
    if source not in sources:
        pytest.skip(f"there is no folder of real pets at {SAMPLE}")
    ours, theirs = str(tmp_path), api(source, case)
    dataset = prepare(pets, sources[source], ours, PETS[case][0], limits=Limits(1.0))
    assert shards(ours) == shards(theirs) and len(shards(ours)) == 20
    only_ours, compared = set(), 0
    for name in shards(ours):
        own, other = read(ours, name), dict(read(theirs, name))
        both = [(key, features) for key, features in own if key in other]
        assert [key for key, _ in both] == list(other)  # none lost, in the same order
        only_ours |= {key for key, _ in own} - set(other)
        for key, features in both:
            assert_same(features, other[key], case)
            compared += 1
    # The API leaves out what is no JPEG, with a warning; here it is written anew.
    assert only_ours == {entry["id"] + ".jpg" for entry in dataset["changed"] if "inside" in entry["detail"]}
    assert compared >= 100


def assert_same(own, other, case):
    assert set(own) == set(other)
    if case == "faces":
        assert own == other
        return
    # One trimap for several pets: the API repeats its box and mask for each, here they are written once.
    assert len(own[LABELS]) == 1 and other[LABELS] == own[LABELS] * len(other[LABELS])
    for key in set(own) - {MASK} - set(ENDS):
        assert own[key] == other[key][: len(own[key])], key
    # The API's body boxes end on the last pixel of the pet, here they end behind it.
    for key, side in zip(ENDS, ("image/width", "image/height")):
        assert own[key][0] * own[side][0] == pytest.approx(other[key][0] * own[side][0] + 1, abs=1e-3)
    pixels = own["image/width"][0] * own["image/height"][0]
    if case == "numerical":
        assert own[MASK] == other[MASK][:pixels]
    else:
        assert numpy.array_equal(decoded(own[MASK][0]), decoded(other[MASK][0]))


def decoded(png):
    """As the API's decoder takes it: 1 where the value is over 0. Ours have one bit a pixel, the API's eight."""
    return numpy.asarray(Image.open(io.BytesIO(png)).convert("L")) > 0


def test_voc_is_the_api_converters(api, sources, tmp_path):
    out = str(tmp_path / "out")
    dataset = prepare(voc, sources["voc"], out, voc.Options(shards=1))
    assert dataset["classes"] == sorted(VOC_CLASSES) != list(VOC_CLASSES)
    (tmp_path / "map.pbtxt").write_text(label_map_text(VOC_CLASSES), encoding="utf-8")
    prepare(voc, sources["voc"], out, voc.Options(str(tmp_path / "map.pbtxt"), shards=1))
    own = read(out, "pascal_train.record-00000-of-00001")
    other = dict(read(api("voc", "train"), "shard"))
    assert len(own) == 8 and len(other) == 4
    assert {key: features for key, features in own if key in other} == other


@pytest.mark.parametrize("case", ["boxes", "png"])
def test_coco_is_the_api_converters(api, sources, case, tmp_path):
    dataset = prepare(
        coco,
        sources["coco"],
        str(tmp_path),
        coco.Options(masks="png" if case == "png" else "none", shards=1),
        limits=Limits(1.0),
    )
    theirs = [
        pair
        for split in ("train", "val")
        for name in shards(api("coco", case))
        if f"_{split}." in name
        for pair in read(api("coco", case), name)
    ]
    ours = [pair for name in shards(str(tmp_path)) for pair in read(str(tmp_path), name)]
    stems = {
        features["image/source_id"][0].decode(): features["image/filename"][0].decode()[: -len(".jpg")]
        for _, features in theirs
    }
    assert list(stems.values()) == COCO_IMAGES
    # An image none of whose boxes can be used: skipped here, an image without a box there.
    (skipped,) = dataset["skipped"]
    assert stems[skipped["id"]] == ALL_OUTSIDE and dict(theirs)[skipped["id"]]["image/object/area"] == []
    assert [key for key, _ in ours] == [key for key, _ in theirs if key != skipped["id"]]
    differing = []
    for key, own in ours:
        other = dict(theirs)[key]
        # The text alone there; text and an id without gaps here.
        assert own.pop(LABELS) == [
            dataset["classes"].index(text.decode("utf-8")) + 1 for text in own["image/object/class/text"]
        ]
        for features in (own, other):
            features[MASK] = [decoded(png).tolist() for png in features.get(MASK, [])]
        if own != other:
            differing.append(stems[key])
            assert_coco_differs(stems[key], own, other)
    assert differing == ["Bengal_5", OVER_THE_EDGE]
    assert sorted((stems[entry["id"]], entry["what"]) for entry in dataset["changed"]) == [
        ("Bengal_5", "reencoded"),
        (OVER_THE_EDGE, "clipped box"),
        (FAR_OUTSIDE, "rejected box"),
    ]


def assert_coco_differs(stem, own, other):
    if stem == OVER_THE_EDGE:
        # Half a pixel over the edge: clipped here, left out there. It is the last one of its image.
        assert own["image/object/bbox/xmax"][-1] == 1.0
        own = {key: values[:-1] if key.startswith("image/object/") else values for key, values in own.items()}
        own[MASK] = other[MASK]
    else:
        # Stored as it is and called jpeg there, a JPEG here.
        assert other.pop("image/encoded")[0].startswith(b"\x89PNG") and other.pop("image/key/sha256")
        assert own.pop("image/encoded")[0].startswith(b"\xff\xd8") and own.pop("image/key/sha256")
    assert own == other


def test_the_apis_decoder_reads_both_kinds_of_masks_alike(api_dir, mini, tmp_path):
    """Ours too, through tf_example_decoder: what training sees is the same floats."""
    for kind in ("png", "numerical"):
        prepare(pets, str(mini / "raw"), str(tmp_path / kind), pets.Options("body", kind), limits=Limits(1.0))
    code = """if True:
        import sys, numpy, tensorflow.compat.v1 as tf
        from object_detection.data_decoders import tf_example_decoder
        tf.enable_eager_execution()
        found = []
        for path, kind in zip(sys.argv[1:], (2, 1)):
            decoder = tf_example_decoder.TfExampleDecoder(load_instance_masks=True, instance_mask_type=kind)
            payload = next(iter(tf.data.TFRecordDataset(path)))
            found.append(decoder.decode(payload)["groundtruth_instance_masks"].numpy())
        assert numpy.array_equal(*found) and found[0].ndim == 3 and 0 < found[0].mean() < 1
    """
    paths = [
        str(tmp_path / kind / "pets_fullbody_with_masks_val.record-00000-of-00010") for kind in ("png", "numerical")
    ]
    subprocess.run(
        [sys.executable, "-c", code] + paths,
        check=True,
        env=dict(os.environ, PYTHONPATH=api_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
