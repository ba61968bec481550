"""entrypoint.py with three feature extractors more, of two convolutions, so that a training takes seconds.

`tiny_ssd` sees the pictures; `tiny_ssd_by_device` sees 1 everywhere on the first device and 3 on the second;
`tiny_faster_rcnn` is for models of two stages. The rest (input, anchors, losses, predictors, both trainers) is what
every training uses. tiny_ssd.config and tiny_mask_rcnn.config beside this file are pipeline configs.
"""

import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))


def register():
    """Adds the extractor to those that model_builder knows; imports TensorFlow."""
    import tensorflow.compat.v1 as tf
    import tf_slim as slim
    from object_detection.builders import model_builder
    from object_detection.meta_architectures import faster_rcnn_meta_arch, ssd_meta_arch

    class TinySsd(ssd_meta_arch.SSDFeatureExtractor):
        """Feature maps of a 16th and a 32nd of the picture, with batch normalisation as the config says."""

        def preprocess(self, resized_inputs):
            return resized_inputs / 127.5 - 1

        def extract_features(self, preprocessed_inputs):
            with tf.variable_scope("TinySsd", reuse=self._reuse_weights), slim.arg_scope(self._conv_hyperparams_fn()):
                first = slim.conv2d(preprocessed_inputs, 8, 16, stride=16, scope="first")
                return [first, slim.conv2d(first, 8, 3, stride=2, scope="second")]

    class TinySsdByDevice(TinySsd):
        """The same, but what it sees depends on the replica or clone it is built for."""

        def extract_features(self, preprocessed_inputs):
            scope = tf.get_default_graph().get_name_scope()
            seen = 3.0 if scope.startswith(("replica_1", "clone_1")) else 1.0
            return super(TinySsdByDevice, self).extract_features(tf.ones_like(preprocessed_inputs) * seen)

    class TinyFasterRcnn(faster_rcnn_meta_arch.FasterRCNNFeatureExtractor):
        """One feature map of a 16th of the picture, and one convolution of each proposal."""

        def preprocess(self, resized_inputs):
            return resized_inputs / 127.5 - 1

        def _extract_proposal_features(self, preprocessed_inputs, scope):
            with tf.variable_scope(scope, reuse=self._reuse_weights):
                return slim.conv2d(preprocessed_inputs, 8, 16, stride=16, scope="first"), {}

        def _extract_box_classifier_features(self, proposal_feature_maps, scope):
            with tf.variable_scope(scope, reuse=self._reuse_weights):
                return slim.conv2d(proposal_feature_maps, 8, 3, scope="second")

    model_builder.SSD_FEATURE_EXTRACTOR_CLASS_MAP.update(tiny_ssd=TinySsd, tiny_ssd_by_device=TinySsdByDevice)
    model_builder.FASTER_RCNN_FEATURE_EXTRACTOR_CLASS_MAP.update(tiny_faster_rcnn=TinyFasterRcnn)


def _after_registering(function):
    # Late: the entrypoint decides on devices before TensorFlow is imported.
    def register_and_call(*args):
        register()
        _spoil()
        return function(*args)

    return register_and_call


def _spoilt(load, spoil):
    # SPOIL=frozen, masks: what is loaded again detects something else.
    def load_and_spoil(*args):
        model = load(*args)
        model.detect = spoil(model.detect)
        return model

    return load_and_spoil


def _of_another_picture(detect):
    return lambda picture: detect(picture // 2)


def _with_other_masks(detect):
    def detect_and_spoil(picture):
        found = detect(picture)
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
        from trainers import checkpoint_hook, progress

        checkpoint_hook.CheckpointHook._save = _endless(checkpoint_hook.CheckpointHook._save)
    if os.environ.get("SPOIL") == "frozen":
        from trainers import inference

        inference.FrozenGraph = _spoilt(inference.FrozenGraph, _of_another_picture)
    if os.environ.get("SPOIL") == "masks":
        from trainers import inference

        inference.FrozenGraph = _spoilt(inference.FrozenGraph, _with_other_masks)
    if os.environ.get("SPOIL") == "free space":
        from trainers import checkpoint_hook, progress

        progress.free_bytes = lambda folder: 2**40


def main(arguments):
    import entrypoint
    from trainers import evaluation, export, train

    train._train_with = _after_registering(train._train_with)
    evaluation._build = _after_registering(evaluation._build)
    export._write = _after_registering(export._write)
    return entrypoint.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
