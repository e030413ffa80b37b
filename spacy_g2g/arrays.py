"""Type names for the NumPy arrays that the package passes around."""

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float32]
DoubleArray = NDArray[np.float64]
HashArray = NDArray[np.uint64]
