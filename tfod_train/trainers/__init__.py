"""The two trainers, and what a training is made of around them. tfod_train/trainer.py lists them."""
