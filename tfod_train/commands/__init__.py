"""What people run, one module a command; each is thin."""
