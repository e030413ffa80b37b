from ..parser.conftest import factory, trained, trained_path

__all__ = ["factory", "trained", "trained_path"]
