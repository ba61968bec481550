"""Three feature extractors of two convolutions, so that a training takes seconds; tiny_plugin.py adds them.

`tiny_ssd` sees the images; `tiny_ssd_by_device` sees 1 everywhere on the first device and 3 on the second;
`tiny_faster_rcnn` is for models of two stages. The rest (input, anchors, losses, predictors, both trainers) is what
every training uses. tiny_ssd.config and tiny_mask_rcnn.config beside this file are pipeline configs.
"""


def register():
    """Adds the extractor to those that model_builder knows; imports TensorFlow."""
    import tensorflow.compat.v1 as tf
    import tf_slim as slim
    from object_detection.builders import model_builder
    from object_detection.meta_architectures import faster_rcnn_meta_arch, ssd_meta_arch

    class TinySsd(ssd_meta_arch.SSDFeatureExtractor):
        """Feature maps of a 16th and a 32nd of the image, with batch normalisation as the config says."""

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
        """One feature map of a 16th of the image, and one convolution of each proposal."""

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
