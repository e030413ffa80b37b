"""HTTP service over a pipeline. ``python -m spacy g2g serve`` runs it.

One thread runs the pipeline (``worker.py``) and parses waiting Docs in one batch, short ones first. There are
three interfaces: plain JSON (``plain_json.py``), the external recommender of INCEpTION (``inception.py``) and
the parser of ArboratorGrew (``arborator.py``). ``limits.py`` limits each request. No request reads or writes
a file. The package needs FastAPI and dkpro-cassis (extra ``serve``).
"""
