"""Hand-written grammar of English that makes the sample treebank.

Each module imports only modules to its left: `tree` (words, trees, CoNLL-U) < `lexicon` (words by class)
< `morphology` (inflected words) < `phrases` (noun phrases) < `clauses` (verb phrases and
relative clauses) < `sentences` (whole sentences and their weights).
"""
