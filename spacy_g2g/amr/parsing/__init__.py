"""AMR by transitions: graphs, words for their nodes, and a stack machine that builds them.

`graph` reads and writes graphs, `aligner` finds a word for each node, `oracle` the actions that build a
graph over a sentence, `machine` executes them, and `table` numbers the actions for a model.
"""
