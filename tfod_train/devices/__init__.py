"""Which devices there are, which are used, and how much of them."""
