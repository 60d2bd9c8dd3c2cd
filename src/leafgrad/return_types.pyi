# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

from leafgrad._tensor.tensor import Tensor

class NamedResult(tuple[Tensor, ...]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int

def named_result(name: str, *fields: str) -> type[NamedResult]: ...

class aminmax(NamedResult, tuple[Tensor, Tensor]):
    @property
    def min(self) -> Tensor: ...
    @property
    def max(self) -> Tensor: ...

class frexp(NamedResult, tuple[Tensor, Tensor]):
    @property
    def mantissa(self) -> Tensor: ...
    @property
    def exponent(self) -> Tensor: ...

class histogram(NamedResult, tuple[Tensor, Tensor]):
    @property
    def hist(self) -> Tensor: ...
    @property
    def bin_edges(self) -> Tensor: ...

class kthvalue(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class max(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class median(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class min(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class nanmedian(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class sort(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...

class topk(NamedResult, tuple[Tensor, Tensor]):
    @property
    def values(self) -> Tensor: ...
    @property
    def indices(self) -> Tensor: ...
