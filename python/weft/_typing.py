"""Types of what users hand over, for annotations and for the stubs."""
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

if TYPE_CHECKING:
    from weft import Parameter, Tensor


class ShowsMemory(Protocol):
    """NumPy's arrays, PyTorch's tensors and others that can become arrays."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class ShowsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


Array = Union[bool, int, float, complex, Sequence[Any], ShowsMemory, ShowsDLPack, "Tensor", "Parameter"]
Axis = Union[int, Sequence[int], None]
Shape = Union[int, Sequence[int]]
DTypeLike = Optional[Any]
