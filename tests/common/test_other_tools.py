"""Names that settings have in other tools are answered with ours."""

import pytest

from common import other_tools


@pytest.mark.parametrize("name", sorted(other_tools.UNMISTAKABLE))
def test_unmistakable_names_are_refused_wherever_they_come_from(name):
    (sentence,) = other_tools.refusals({name: "3"})
    assert sentence.startswith(f"{name}=3: there is no such setting; ") and sentence.endswith(".")


@pytest.mark.parametrize("name", sorted(other_tools.GENERIC))
def test_generic_names_are_refused_where_they_are_meant_for_us(name):
    assert other_tools.refusals({name: "3"}) == []
    assert len(other_tools.refusals({name: "3"}, [name])) == 1


def test_an_empty_value_is_none():
    assert other_tools.refusals({"EPOCHS": " ", "LR": ""}, ["LR"]) == []


def test_no_name_is_a_setting_or_a_variable_of_make():
    from tfod_train import settings

    ours = set(settings.names()) | set(settings.ON_THE_HOST) | set(settings.NOT_SUPPORTED)
    of_makefile = {
        "SOURCE",
        "FORMAT",
        "OUT",
        "MODEL",
        "IMAGES",
        "MIN_SCORE",
        "CHECKPOINT",
        "RUN_A",
        "RUN_B",
        "PYTHON",
        "RECORDS",
        "VAL",
        "TEST",
        "LABEL_MAP",
    }
    assert not (ours | of_makefile) & (set(other_tools.UNMISTAKABLE) | set(other_tools.GENERIC))


def test_every_answer_names_settings_that_there_are():
    from tfod_train import settings

    known = set(settings.names()) | set(settings.ON_THE_HOST)
    for answer in list(other_tools.UNMISTAKABLE.values()) + list(other_tools.GENERIC.values()):
        words = {word.strip(",:;.").partition("=")[0] for word in answer.split()}
        named = {word for word in words if word.isupper() and "_" in word}
        assert named <= known and (named or any(w in answer for w in ("SEED", "DATASET", "image_resizer"))), answer


@pytest.mark.parametrize(
    "flags, names",
    [
        ("", []),
        ("n", []),
        (" -- EPOCHS=3", ["EPOCHS"]),
        ("rR -j2 --jobserver-auth=3,4 -- LR=0.1 NAME=a\\ EPOCHS=b GPUS:=2", ["LR", "NAME", "GPUS"]),
    ],
)
def test_the_variables_of_makes_command_line(flags, names):
    assert other_tools.of_make(flags) == names


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("FOO", "FOO: there is no such setting; docs/settings.md lists them."),
        ("NUM_STEP", "NUM_STEP: there is no such setting; did you mean NUM_STEPS?"),
        ("MODEL", "MODEL: there is no such setting"),
    ],
)
def test_a_variable_of_makes_command_line_that_nothing_reads_is_told(name, sentence):
    (said,) = other_tools.unknown([name], ["NUM_STEPS", "TRAINER"])
    assert said.startswith(sentence)


@pytest.mark.parametrize(
    "name", ["TRAINER", "TF_CPP_MIN_LOG_LEVEL", "NCCL_DEBUG", "PYTHON", "http_proxy", "LR", "EPOCHS"]
)
def test_what_something_reads_or_answers_is_left_to_that(name):
    assert other_tools.unknown([name], ["TRAINER"]) == []


def test_a_generic_name_of_the_environment_is_a_line():
    (line,) = other_tools.unused({"LR": "0.1", "BATCH": "4"}, meant=["BATCH"])
    assert line == "LR=0.1 of the environment is not read here; if it was meant, set LEARNING_RATE."
