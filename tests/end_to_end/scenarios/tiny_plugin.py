"""PLUGINS: adds the extractors of tiny_ssd.py, and spoils what SPOIL names, so that tests see it found."""

import os
import threading

from tests.end_to_end.scenarios import tiny_ssd


def _spoilt(load, spoil):
    # SPOIL=frozen, masks: what is loaded again detects something else.
    def load_and_spoil(*args):
        model = load(*args)
        model.detect = spoil(model.detect)
        return model

    return load_and_spoil


def _of_another_image(detect):
    return lambda image: detect(image // 2)


def _with_other_masks(detect):
    def detect_and_spoil(image):
        found = detect(image)
        return found._replace(masks=found.masks[..., ::-1])

    return detect_and_spoil


def _endless(save):
    # SPOIL=endless save: from the third on, a save writes a part of its values and comes to no end.
    saves = []

    def begin_to_save(hook, session, step):
        saves.append(step)
        if len(saves) < 3:
            return save(hook, session, step)
        part = os.path.join(hook._checkpoint_dir, f"model.ckpt-{step}_temp_1")
        os.mkdir(part)
        with open(os.path.join(part, "part-00000-of-00001.data-00000-of-00001"), "wb") as out:
            out.write(b"\0" * 1000)
        threading.Event().wait()

    return begin_to_save


def _spoil():
    if os.environ.get("SPOIL") == "endless save":
        from tfod_train.hooks import checkpoint

        checkpoint.CheckpointHook._save = _endless(checkpoint.CheckpointHook._save)
    if os.environ.get("SPOIL") == "frozen":
        from tfod_train.export import inference

        inference.FrozenGraph = _spoilt(inference.FrozenGraph, _of_another_image)
    if os.environ.get("SPOIL") == "masks":
        from tfod_train.export import inference

        inference.FrozenGraph = _spoilt(inference.FrozenGraph, _with_other_masks)
    if os.environ.get("SPOIL") == "free space":
        from tfod_train.run import run_dir

        run_dir.RunDir.free_bytes = lambda self: 2**40


tiny_ssd.register()
_spoil()
