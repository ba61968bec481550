"""Made-up runs."""

import pytest

from tests.tfod_train.report.runs import write_run


@pytest.fixture
def write(tmp_path):
    """function(manifest's changes, records, evaluations, best_step) -> path of the run; lines may be texts."""

    def write(*given, folder="my run", **rest):
        return write_run(tmp_path / folder, *given, **rest)

    return write
