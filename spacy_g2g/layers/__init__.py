"""Neural bricks, in PyTorch only; nothing here knows of trees, Docs or Thinc."""
