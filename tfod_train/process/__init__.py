"""The process around a command: console, log, signals, watchdog, exit code."""
