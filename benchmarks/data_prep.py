"""Images a second and peak memory of our converter beside the API's own, on the same files, in one run.

    .venv/bin/python -m benchmarks.data_prep [--images 3000] [--memory 12000] [--rounds 3]

The images are made from mini-pets' drawings: about 500x375, with the grain and so about the bytes (94 kB) of the
real ones, with an xml and a trimap each. Both converters run on two cores, turn by turn, from process start to
process end; the API's is the pinned one as it was fetched. Seconds of the clock only compare where nothing else
runs; those of the CPU, over all cores, show what each costs in any case. Memory is the peak of the proportional
set size (PSS: what processes share counts once) summed over the process tree. --memory N converts N images too,
which repeat the first ones under other names, and shows that the peak does not grow with them.
"""

import argparse
import io
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, List, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORES = 2
DRAWINGS = 48
TARGETS = {"faces": 5.0, "masks": 4.0}
# What each is asked for, in its own words.
OURS = {"faces": ["--boxes", "faces"], "masks": ["--boxes", "body", "--masks", "png"]}
THEIRS = {"faces": ["--faces_only=true"], "masks": ["--faces_only=false", "--mask_type=png"]}
_XML = (
    "<annotation><folder>OXIIIT</folder><filename>%s.jpg</filename><source><database>drawn</database></source>"
    "<size><width>%d</width><height>%d</height><depth>3</depth></size><segmented>0</segmented><object>"
    "<name>cat</name><pose>Frontal</pose><truncated>0</truncated><occluded>0</occluded><bndbox><xmin>%d</xmin>"
    "<ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox><difficult>0</difficult></object></annotation>\n"
)


def make_images(root: str, count: int, distinct: int) -> None:
    """Fill root, in Oxford-IIIT Pet's layout, with count images, of which the first `distinct` differ."""
    from data_prep.mini_pets import generate

    for folder in ("images", "annotations/xmls", "annotations/trimaps"):
        os.makedirs(os.path.join(root, folder))
    breeds = generate.CLASSES
    ids = [f"{breeds[number % len(breeds)]}_{1 + number // len(breeds)}" for number in range(count)]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        pool.starmap(_make_drawing, [(root, number) for number in range(DRAWINGS)])
        pool.starmap(_make_image, [(root, number, ids[number]) for number in range(min(count, distinct))], 16)
    for number in range(distinct, count):
        _repeat(root, ids[number % distinct], ids[number])
    with open(os.path.join(root, "annotations", "trainval.txt"), "w") as out:
        out.writelines(f"{name} {1 + breeds.index(name.rsplit('_', 1)[0])} 1 1\n" for name in ids)


def _make_drawing(root, number):
    from PIL import Image

    from data_prep.mini_pets import generate

    drawing = generate.draw(f"{generate.CLASSES[number % 3]}_{1 + number // 3}")
    size = (520, 390) if drawing.image.width >= drawing.image.height else (390, 520)
    drawing.image.resize(size, Image.BICUBIC).save(os.path.join(root, f"drawing-{number}.png"))
    drawing.trimap.resize(size, Image.NEAREST).save(os.path.join(root, f"trimap-{number}.png"))


def _make_image(root, number, name):
    """A crop of a drawing under grain of its own: no two images have the same bytes."""
    from PIL import Image, ImageChops

    rng = random.Random(number)
    image = Image.open(os.path.join(root, f"drawing-{number % DRAWINGS}.png"))
    trimap = Image.open(os.path.join(root, f"trimap-{number % DRAWINGS}.png"))
    width, height = (500, 375) if image.width > image.height else (375, 500)
    left, top = rng.randrange(image.width - width), rng.randrange(image.height - height)
    crop = (left, top, left + width, top + height)
    noise = rng.getrandbits(8 * width * height).to_bytes(width * height, "little")
    grain = Image.frombytes("L", (width, height), noise)
    grain = grain.point([value * 40 // 256 for value in range(256)])
    image = ImageChops.add(image.crop(crop), Image.merge("RGB", (grain, grain, grain)), 1, -20)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=92)
    _write(os.path.join(root, "images", name + ".jpg"), out.getvalue())
    out = io.BytesIO()
    trimap = trimap.crop(crop)
    trimap.save(out, "PNG")
    _write(os.path.join(root, "annotations", "trimaps", name + ".png"), out.getvalue())
    box = trimap.point([0, 255] + [0] * 254).getbbox() or (10, 10, 50, 50)
    _write(
        os.path.join(root, "annotations", "xmls", name + ".xml"),
        (_XML % ((name, width, height) + tuple(box))).encode("utf-8"),
    )


def _write(path, data):
    with open(path, "wb") as out:
        out.write(data)


def _repeat(root, old, new):
    for folder, ending in (("images", ".jpg"), ("annotations/trimaps", ".png"), ("annotations/xmls", ".xml")):
        source, copy = (os.path.join(root, folder, name + ending) for name in (old, new))
        if ending == ".xml":
            with open(source) as text:
                _write(copy, text.read().replace(old, new).encode("utf-8"))
        else:
            os.link(source, copy)


class Cost(NamedTuple):
    """seconds: of the clock, from start to end. cpu: seconds over all cores. megabytes: the tree's peak."""

    seconds: float
    cpu: float
    megabytes: float


def measure(command: List[str], environ: Dict[str, str]) -> Cost:
    """The Cost of a command.

    Raises:
        RuntimeError: the command failed; the message holds its last lines.
    """
    import psutil

    with tempfile.TemporaryFile() as output:
        os.sync()  # ours waits until its shards are on the disk, and must not wait for what the other left unwritten
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)
        peak = _Peak(psutil.Process(process.pid))
        code = process.wait()
        seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        peak.stop()
        if code:
            output.seek(0)
            raise RuntimeError(
                f"{' '.join(command)} ended with {code}:\n{output.read().decode('utf-8', 'replace')[-2000:]}"
            )
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds, cpu, peak.megabytes)


class _Peak(threading.Thread):
    """Looks at a process tree four times a second: seldom enough to cost neither converter anything."""

    def __init__(self, root: Any):
        super().__init__(daemon=True)
        self.megabytes = 0.0
        self._root = root
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.25):
            self.megabytes = max(self.megabytes, self._now() / 1e6)

    def _now(self):
        import psutil

        total = 0
        try:
            for process in [self._root] + self._root.children(recursive=True):
                info = process.memory_full_info()
                total += getattr(info, "pss", 0) or info.rss
        except psutil.Error:
            return 0
        return total

    def stop(self) -> None:
        self._ended.set()
        self.join()


def convert(work: str, source: str, api: str, kind: str, whose: str) -> Cost:
    """The Cost of one conversion of source into a fresh folder."""
    out = os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    base = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG")}
    if whose == "ours":
        command = [sys.executable, "-m", "data_prep", "pets", "--source", source, "--out", out]
        return measure(command + OURS[kind], base)
    script = os.path.join(api, "object_detection", "dataset_tools", "create_pet_tf_record.py")
    return measure(
        [
            sys.executable,
            script,
            "--data_dir=" + source,
            "--output_dir=" + out,
            "--label_map_path=" + os.path.join(work, "label_map.pbtxt"),
        ]
        + THEIRS[kind],
        dict(base, PYTHONPATH=api),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=3000, metavar="N")
    parser.add_argument("--memory", type=int, default=0, metavar="N", help="show our peak memory for N images too")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="turns of each; the fastest counts")
    parser.add_argument("--kinds", nargs="+", choices=sorted(OURS), default=sorted(OURS))
    parser.add_argument("--work", metavar="DIR", help="keep the images here and use them again (about 100 kB each)")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    work = options.work or tempfile.mkdtemp(prefix="data_prep-")
    os.makedirs(work, exist_ok=True)
    try:
        _run(work, options)
    finally:
        if not options.work:
            shutil.rmtree(work)


def _run(work, options):
    from data_prep.formats import pets
    from data_prep.writer import dataset

    _write(os.path.join(work, "label_map.pbtxt"), dataset.label_map_text(pets.CLASSES).encode("utf-8"))
    api = os.path.join(work, "api")
    if not os.path.isdir(api):
        subprocess.check_call(
            [sys.executable, "-m", "object_detection_patches", "fetch", api], cwd=ROOT, stdout=subprocess.DEVNULL
        )
    source = _images(work, options.images, options.images)
    print(
        f"{options.images} images on {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.2f} "
        f"before; seconds from process start to end, the fastest of {options.rounds}"
    )
    print(
        f"| {options.images} images | the API's converter | ours | times as fast | target | CPU, the "
        "API's | ours | peak memory, the API's | ours |"
    )
    print("|---" * 9 + "|")
    for kind in options.kinds:
        turns = [
            (convert(work, source, api, kind, "theirs"), convert(work, source, api, kind, "ours"))
            for _ in range(options.rounds)
        ]
        (theirs, ours), (their_cpu, our_cpu), _ = (
            [min(column) for column in zip(*pairs)] for pairs in zip(*(zip(*turn) for turn in turns))
        )
        memory = [max(cost.megabytes for cost in side) for side in zip(*turns)]
        print(
            f"| {kind} | {theirs:.1f} s, {options.images / theirs:.0f} images/s | {ours:.1f} s, "
            f"{options.images / ours:.0f} images/s | {theirs / ours:.1f} | {TARGETS[kind]:.0f} | "
            f"{their_cpu:.1f} s | {our_cpu:.1f} s | {memory[0]:.0f} MB | {memory[1]:.0f} MB |",
            flush=True,
        )
    if options.memory:
        many = _images(work, options.memory, min(options.images, options.memory))
        for kind in options.kinds:
            cost = convert(work, many, api, kind, "ours")
            print(f"{kind}, {options.memory} images: {cost.seconds:.1f} s, peak {cost.megabytes:.0f} MB", flush=True)
    print(f"Load {os.getloadavg()[0]:.2f} after.")


def _images(work, count, distinct):
    source = os.path.join(work, f"images-{count}")
    if not os.path.isdir(source):
        unfinished = source + ".tmp"
        shutil.rmtree(unfinished, ignore_errors=True)
        make_images(unfinished, count, distinct)
        os.rename(unfinished, source)
    return source


if __name__ == "__main__":
    main()
