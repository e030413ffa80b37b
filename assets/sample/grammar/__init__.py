"""A hand-written grammar of English that makes the sample treebank.

Floors, imports go down: `tree` (words, trees, CoNLL-U) < `lexicon` (words by class)
< `morphology` (inflected words) < `phrases` (noun phrases) < `clauses` (verb phrases and
relative clauses) < `sentences` (whole sentences and their weights).
"""
