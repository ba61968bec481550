"""What every room may use; standard library and small packages only, and nothing of the other rooms."""
