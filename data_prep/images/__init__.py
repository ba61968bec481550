"""One image and its boxes and masks: decoded, held to the rules, made into an example's features."""
