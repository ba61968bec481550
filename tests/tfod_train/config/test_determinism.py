"""SEED: the fields of a config at which the input arrives in one order."""

from tfod_train.config import determinism


def test_there_is_one_reader_one_thread_and_one_queue_and_nothing_else_is_set(protos):
    from object_detection.protos import pipeline_pb2

    config, told = pipeline_pb2.TrainEvalPipelineConfig(), []

    def set_field(message, field, value):
        told.append((field, value))
        setattr(message, field, value)

    determinism.order_input(config, set_field)
    reader, train = config.train_input_reader, config.train_config
    assert (reader.num_readers, reader.num_parallel_map_calls, train.num_batch_queue_threads) == (1, 1, 1)
    assert [field for field, _ in told] == ["num_readers", "num_parallel_map_calls", "num_batch_queue_threads"]
    assert not config.HasField("model") and not config.eval_input_reader
