# The front door. Settings are variables, either way: `make train TRAINER=clone`, `TRAINER=clone make train`.
.DEFAULT_GOAL := help
.PHONY: help train eval config report preflight diff export detect mini-pets pets-tfrecord dataset adopt check show tensorboard setup
.PHONY: lint test test-fast test-full test-nightly test-faults test-api test-image smoke lock pin-base sbom clean

PYTHON ?= python3
LAUNCH = $(PYTHON) -m launcher

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

train:  ## train, evaluate and show the result: on all GPUs, or on the CPU where there is none
	@$(LAUNCH) train

eval:  ## evaluate the checkpoints of a run (RUN_DIR=), or its best one on the test split (SPLIT=test)
	@$(LAUNCH) eval

config:  ## write a config that fits the boxes of DATASET= (MODEL=, OUT=FILE)
	@$(LAUNCH) config $(if $(MODEL),--model "$(MODEL)") $(if $(OUT),--out "$(OUT)")

report:  ## write the page that tells a run, report.html, anew (RUN_DIR=)
	@$(LAUNCH) report

diff:  ## say what tells two runs apart (RUN_A=, RUN_B=)
	@$(LAUNCH) diff "$(RUN_A)" "$(RUN_B)"

export:  ## write a trained model as frozen graph, SavedModel and TFLite (RUN_DIR=, CHECKPOINT=, OUT=)
	@$(LAUNCH) export $(if $(CHECKPOINT),--checkpoint "$(CHECKPOINT)") $(if $(OUT),--out "$(OUT)")

detect:  ## draw what an export finds on images (MODEL=RUN/export/STEP IMAGES="a.jpg b.jpg", OUT=, MIN_SCORE=)
	@$(LAUNCH) detect --model "$(MODEL)" --out "$(or $(OUT),detections)" --min-score $(or $(MIN_SCORE),0.5) $(IMAGES)

preflight:  ## say in seconds whether a training can work here, and what to do where not
	@$(LAUNCH) preflight

mini-pets:  ## draw the small built-in dataset into data/mini-pets
	@$(LAUNCH) data mini-pets

pets-tfrecord:  ## make TFRecords of Oxford-IIIT Pet in data/pets: downloaded, or from PETS_DIR=
	@$(LAUNCH) data pets

dataset:  ## convert your own images into data/NAME, whatever format they are in (SOURCE=DIR, FORMAT=, OUT=data/NAME)
	@$(LAUNCH) dataset --source "$(SOURCE)" $(if $(FORMAT),--format "$(FORMAT)") $(if $(OUT),--out "$(OUT)")

adopt:  ## train on TFRecords that you have (RECORDS='a.record-*' VAL='b.record' LABEL_MAP=x.pbtxt, TEST=, OUT=data/NAME)
	@$(LAUNCH) adopt --records "$(RECORDS)" --val "$(VAL)" --label-map "$(LABEL_MAP)" $(if $(TEST),--test "$(TEST)") $(if $(OUT),--out "$(OUT)")

check:  ## read every byte of the records of DATASET=, and say what is wrong with which
	@$(LAUNCH) check "$(or $(DATASET),mini-pets)"

show:  ## draw images of DATASET= with their boxes, and box sizes, into its contact-sheet.png
	@$(LAUNCH) show "$(or $(DATASET),mini-pets)"

tensorboard:  ## show the curves of all runs on http://127.0.0.1:6006
	@$(LAUNCH) tensorboard

setup:  ## prepare the place where training runs, without training
	@$(LAUNCH) setup

lint:  ## ruff, mypy, shellcheck, hadolint and actionlint on everything (half a minute)
	@$(LAUNCH) lint

test: lint  ## `make lint`, and all tests but the long ones and those of the image (10 minutes)
	@$(LAUNCH) pytest -m "not long and not nightly and not image"

test-fast: lint  ## `make lint`, and the tests that neither train nor load TensorFlow (3 minutes)
	@$(LAUNCH) pytest -m "not tensorflow and not training and not long and not nightly and not image"

test-full: test  ## `make test`, then the long tests (up to 45 minutes)
	@$(LAUNCH) pytest -m "long and not image"

test-nightly:  ## what is slow and seldom breaks: soak, newer checkout, Python 3.8, set-up, 20 kills
	@$(LAUNCH) pytest -m "nightly or kills" --kills $(or $(KILLS),20)

test-faults:  ## kill trainings 20 times, half of them while they save (KILLS=6 does fewer), and see that none is lost
	@$(LAUNCH) pytest -m kills --kills $(or $(KILLS),20)

test-api:  ## the API's own tests on the patched API (2 minutes; `make test-full` runs them too)
	@$(LAUNCH) pytest -m api_own_tests

test-image:  ## the tests of the Docker image, where an engine answers
	@$(LAUNCH) image-tests ../shared/docker

smoke:  ## hold both trainers to their promises on all GPUs, or on two virtual CPU devices (8 minutes; runs/smoke)
	@$(PYTHON) -m benchmarks.smoke $(if $(OUT),--out "$(OUT)")

lock:  ## resolve docker/locks/*.in anew into the locks beside them
	@$(PYTHON) docker/locks/lock.py

pin-base:  ## ask the registry for the digest of BASE_IMAGE and write it to .env
	@$(LAUNCH) pin-base

sbom:  ## print what the image adds to its base, as CycloneDX JSON (BASE_PYTHON=3.8 for NVIDIA's)
	@PYTHONPATH=. $(PYTHON) docker/supply_chain/sbom.py --python $(or $(BASE_PYTHON),3.6)

clean:  ## remove the environment and caches; runs/ and data/ stay
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis && find . -name __pycache__ -type d -prune -exec rm -rf {} +
