"""The door of the AMR wing: what `project/` and the command ``convert-amr`` import from it."""

from .data.corpus import AMR_SUFFIXES, AmrReader, make_amr_corpus
from .formats.amr_file import OnError, read_metadata, select_ids

__all__ = ["AMR_SUFFIXES", "AmrReader", "OnError", "make_amr_corpus", "read_metadata", "select_ids"]
