"""The door of the AMR wing: everything that commands and projects import from it."""

from .data.corpus import AMR_SUFFIXES, AmrReader, make_amr_corpus
from .data.docs import AMR, doc_from_amr, get_amr_ids, get_amrs, has_amrs, set_amrs
from .drawing import draw_amrs
from .formats.amr_file import AmrBlock, OnError, read_amr_file, read_metadata, select_ids, write_amrs

__all__ = [
    "AMR",
    "AMR_SUFFIXES",
    "AmrBlock",
    "AmrReader",
    "OnError",
    "doc_from_amr",
    "draw_amrs",
    "get_amr_ids",
    "get_amrs",
    "has_amrs",
    "make_amr_corpus",
    "read_amr_file",
    "read_metadata",
    "select_ids",
    "set_amrs",
    "write_amrs",
]
