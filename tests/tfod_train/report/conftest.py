"""Made-up runs."""

import json

import pytest

from tests.tfod_train.report.runs import MANIFEST


@pytest.fixture
def write(tmp_path):
    """function(manifest's changes, records, evaluations, best_step) -> path of the run; lines may be texts."""

    def write(changes=(), records=(), evaluations=None, best_step=None, folder="my run"):
        run = tmp_path / folder
        (run / "eval").mkdir(parents=True)
        (run / "run.json").write_text(json.dumps(dict(MANIFEST, **dict(changes))))
        if records is not None:
            (run / "metrics.jsonl").write_text(
                "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records)
            )
        if evaluations is not None:
            (run / "eval" / "metrics.json").write_text(json.dumps({"evaluations": evaluations, "best_step": best_step}))
        return run

    return write
