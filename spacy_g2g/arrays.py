"""Type names for the NumPy arrays that the package passes around."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
RealArray = NDArray[np.floating[Any]]
HashArray = NDArray[np.uint64]
