"""AMR by transitions: graphs, words for their nodes, and a stack machine that builds graphs.

Words count from 0 here, and ROOT comes after the last word: a sentence of n words has the words 0 to n - 1
and ROOT n. (In `spacy_g2g.trees` ROOT is 0 and words count from 1.) Only `AmrState.positions` converts: it
returns ROOT first, as networks read sentences.

`tree` and `graph` hold AMRs, `aligner` finds a word for each node, `oracle` the actions that build a graph
over a sentence, `machine` executes actions, `table` numbers them for a model, and `pipeline.scheme`
learns all of these.
"""
