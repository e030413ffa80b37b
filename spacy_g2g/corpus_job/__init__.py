"""Parsing of a corpus, shard by shard: what ``python -m spacy g2g parse-corpus`` runs.

A job is a plan of shards (``plan.py``). ``parse_shard`` (``shard.py``) reads a shard, parses it, puts aside
what can't be parsed, writes one Parquet file under a temporary name and renames it. The rename is the only
commit: a shard is done if its file is there. So anything may be killed, started again or run twice at once.
Engines only hand out shards. The package needs pyarrow (extra ``corpus``).
"""
