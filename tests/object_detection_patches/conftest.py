"""A small tree with the constructs that the patches change and nothing else of the API; scenarios on the real one."""

import json
import os
import subprocess
import sys

import pytest

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")

FILES = {
    "object_detection/__init__.py": "",
    "object_detection/model_lib.py": """
def create_model_fn():
  def model_fn(mode, scaffold=None):
    losses = detection_model.regularization_losses()
    losses_dict['Loss/total_loss'] = tf.add_n(losses)
    clip_gradients_value = None
    if train_config.gradient_clipping_by_norm > 0:
      clip_gradients_value = train_config.gradient_clipping_by_norm
    for var in optimizer_summary_vars:
      tf.summary.scalar(var.op.name, var)
    summaries = [] if use_tpu else None
    train_op = slim.optimizers.optimize_loss(
        clip_gradients=clip_gradients_value,
        summaries=summaries)
    if scaffold is None:
      scaffold = object()
    return scaffold
  return model_fn
""",
    "object_detection/eval_util.py": """
from object_detection.metrics import lvis_evaluation

CLASSES = {'lvis': lvis_evaluation.LVISMaskEvaluator}
""",
    "object_detection/builders/optimizer_builder.py": """
def build_optimizers_tf_v1(optimizer):
  '''Builds it.'''
  return tf_opt.MovingAverageOptimizer(optimizer)
""",
    "object_detection/builders/dataset_builder.py": """
def _read_dataset_internal(filenames, filename_shard_fn):
  '''Reads them.'''
  filename_dataset = tf.data.Dataset.from_tensor_slices(filenames)
  if filename_shard_fn:
    filename_dataset = filename_shard_fn(filename_dataset)

def shard_function_for_context(input_context):
  '''Returns a function.'''
  def shard_fn(dataset):
    return dataset.shard(2, 0)
  return shard_fn

def build():
  def dataset_map_fn(dataset, fn_to_map, num_parallel_calls):
    return dataset.map_with_legacy_function(fn_to_map, num_parallel_calls=num_parallel_calls)
  return dataset_map_fn
""",
    "object_detection/builders/graph_rewriter_builder.py": """
def build(is_training):
  '''Returns a function.'''
  def graph_rewrite_fn():
    contrib_quantize.experimental_create_training_graph(quant_delay=0)
  return graph_rewrite_fn
""",
    "object_detection/core/batcher.py": """
class BatchQueue(object):
  def dequeue(self):
    return self._queue.dequeue()
""",
    "object_detection/core/preprocessor.py": """
def _strict_random_crop_image(image):
  return tf.image.sample_distorted_bounding_box(image)
""",
    "object_detection/inputs.py": """
def create_train_input_fn(train_config, train_input_config, model_config):
  def _train_input_fn(params=None):
    return train_input(train_config, train_input_config, model_config,
                       params=params)
  return _train_input_fn
""",
    "object_detection/legacy/trainer.py": """
def _create_losses(input_queue):
  return get_inputs(input_queue)

def train(loss):
  clones = model_deploy.create_clones(deploy_config, model_fn, [input_queue])
  for var in optimizer_summary_vars:
    tf.summary.scalar(var.op.name, var, family='LearningRate')
  total_loss, grads_and_vars = model_deploy.optimize_clones(
      clones, regularization_losses=regularization_losses)
  total_loss = tf.check_numerics(total_loss, 'LossTensor is inf or nan.')
  grads_and_vars = slim.learning.clip_gradient_norms(
      grads_and_vars, train_config.gradient_clipping_by_norm)
  for loss_tensor in tf.losses.get_losses():
    global_summaries.add(tf.summary.scalar(loss_tensor.op.name, loss_tensor))
  global_summaries.add(
      tf.summary.scalar('Losses/TotalLoss', tf.losses.get_total_loss()))
  session_config = tf.ConfigProto(allow_soft_placement=True)
  with tf.device(deploy_config.variables_device()):
    graph_hook_fn()
  slim.learning.train(loss, session_config=session_config)
""",
    "object_detection/meta_architectures/ssd_meta_arch.py": """
class SSDMetaArch(object):
  def loss(self, batch_reg_weights):
    '''Sums it up.'''
    return loss_dict
""",
    "object_detection/meta_architectures/faster_rcnn_meta_arch.py": """
class FasterRCNNMetaArch(object):
  def _loss_box_classifier(self, loss_dict):
    if self._hard_example_miner:
      losses = self._unpad_proposals_and_apply_hard_mining(
          proposal_boxlists, second_stage_loc_losses,
          second_stage_cls_losses, num_proposals)
    loss_dict['Loss/BoxClassifierLoss/mask_loss'] = mask_loss
    return loss_dict
""",
    "deployment/model_deploy.py": """
class DeploymentConfig(object):
  def clone_device(self, clone_index):
    return '/device:CPU:0'

  def inputs_device(self):
    return '/device:CPU:0'
""",
}


@pytest.fixture(scope="session")
def play_on(tmp_path_factory):
    """function(*folders) -> function(name, *arguments) -> results (dict) of a scenario, run with these folders on the
    Python path in a process of its own: TensorFlow fixes its devices at its first use, and a path chooses the API."""

    def on(*folders):
        def run(name, *arguments):
            results = tmp_path_factory.mktemp("scenario") / "results.json"
            environment = dict(
                os.environ, PYTHONPATH=os.pathsep.join(folders), TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES=""
            )
            done = subprocess.run(
                [sys.executable, "-W", "ignore", os.path.join(SCENARIOS, name + ".py"), str(results), *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
                env=environment,
            )
            assert done.returncode == 0, done.stdout[-3000:]
            return json.loads(results.read_text())

        return run

    return on


@pytest.fixture(scope="session")
def play(api_dir, play_on):
    """function(name, *arguments) -> results (dict) of a scenario on the patched API."""
    return play_on(api_dir)


@pytest.fixture
def small_tree(tmp_path):
    """The path (pathlib.Path) of a new tree that all patches fit."""
    root = tmp_path / "api"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.lstrip().encode())
    return root


@pytest.fixture
def content():
    """A function from a tree to its files' bytes by path, compiled files left out."""

    def read(root):
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and path.suffix != ".pyc"
        }

    return read
