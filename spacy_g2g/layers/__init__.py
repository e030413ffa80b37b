"""Neural layers in PyTorch, independent of trees, Docs and Thinc."""
