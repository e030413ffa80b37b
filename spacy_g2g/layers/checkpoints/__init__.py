"""Pretrained encoders: a file for each family of checkpoints, and how files are read.

``families.py`` is the table of the families, and ``family.py`` says what one is.
"""
