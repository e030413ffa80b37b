"""Parse a corpus, shard by shard. ``python -m spacy g2g parse-corpus`` runs it.

A job is a plan of shards (``plan.py``). ``parse_shard`` (``shard.py``) reads a shard, parses it, writes one
Parquet file under a temporary name and renames it. The rename is the only commit: if the file exists, the
shard is done. So any process may be killed, restarted or run twice at once. A document that can't be parsed
becomes an error. Engines only hand out shards. The package needs pyarrow (extra ``corpus``).
"""
