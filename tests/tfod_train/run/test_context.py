"""What a Run says of its config."""

from tfod_train.run.context import Run


def test_steps_images_and_records_are_those_of_the_effective_config(protos):
    from google.protobuf import text_format
    from object_detection.protos import pipeline_pb2

    config = text_format.Parse(
        'train_config { batch_size: 6 num_steps: 9 } train_input_reader { tf_record_input_reader { input_path: "a" '
        'input_path: "b" } } eval_input_reader { tf_record_input_reader { input_path: "c" } }',
        pipeline_pb2.TrainEvalPipelineConfig(),
    )
    run = Run(None, None, None, "a.config", config, [], None)
    assert (run.total_steps, run.batch_size, list(run.records), run.start_step) == (9, 6, ["a", "b"], 0)
