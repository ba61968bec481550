"""A small tree with the constructs that the patches change, and nothing else of the API."""
import pytest

FILES = {
    "object_detection/__init__.py": "",
    "object_detection/model_lib.py": """
def create_model_fn():
  def model_fn(mode, scaffold=None):
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
def build():
  def dataset_map_fn(dataset, fn_to_map):
    return dataset.map(fn_to_map)
  return dataset_map_fn
""",
    "object_detection/legacy/trainer.py": """
def train(loss):
  session_config = tf.ConfigProto(allow_soft_placement=True)
  slim.learning.train(loss, session_config=session_config)
""",
    "deployment/model_deploy.py": """
class DeploymentConfig(object):
  def clone_device(self, clone_index):
    return '/device:CPU:0'

  def inputs_device(self):
    return '/device:CPU:0'
""",
}


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
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*"))
                if path.is_file() and path.suffix != ".pyc"}
    return read
