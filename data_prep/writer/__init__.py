"""Writes a planned dataset: shards in parallel, whole or not there."""
