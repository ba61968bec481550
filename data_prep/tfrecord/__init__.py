"""Records as bytes: checksums, messages, label maps, and what an example must hold."""
