"""Pretrained encoders: a module for each family of checkpoints, and readers of their files.

``families.py`` lists the families, and ``family.py`` defines what a family is.
"""
