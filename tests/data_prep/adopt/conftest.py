"""Records of somebody's own."""

import pytest

from tests.data_prep import foreign_records

LABEL_MAP = 'item { id: 1 name: "cat" }\nitem { id: 2 name: "dog" }\n'


@pytest.fixture
def theirs(tmp_path):
    """A folder with two files that train, one that validates and a label map."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for number in range(2):
        foreign_records.write(
            folder / f"a.record-{number}",
            *[foreign_records.example(10 * number + image, labels=(1 + image % 2,)) for image in range(3)],
        )
    foreign_records.write(folder / "b.record", foreign_records.example(90), foreign_records.example(91, labels=(2,)))
    (folder / "x.pbtxt").write_text(LABEL_MAP)
    return folder


@pytest.fixture
def adopt(theirs, tmp_path):
    """function(**options) -> exit code of `data_prep adopt`; a list of patterns or a text each, None leaves out."""
    from data_prep.__main__ import main

    def run(**changes):
        options = dict(
            records=f"{theirs}/a.record-*",
            val=f"{theirs}/b.record",
            label_map=f"{theirs}/x.pbtxt",
            out=f"{tmp_path}/mine",
        )
        options.update(changes)
        arguments = ["adopt"]
        for name, value in options.items():
            if value is not None:
                arguments += ["--" + name.replace("_", "-")] + (value if isinstance(value, list) else [value])
        return main(arguments)

    return run
