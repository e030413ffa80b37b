"""Trees, in Python and NumPy only.

Everywhere in this folder, ``heads[i]`` is the head of word ``i + 1``: words are numbered from 1, and 0 is
ROOT. A tree has exactly one word whose head is ROOT.
"""
