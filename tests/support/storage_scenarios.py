"""Scenarios of storages, the memory behind tensors. See scenarios.py."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def described(storage: Any) -> list[Any]:
    return [
        storage.nbytes(),
        len(storage),
        storage.size(),
        storage.element_size(),
        storage.tolist(),
        str(storage.device),
    ]


@scenario
def views_share_a_storage(T: Any) -> Any:
    x = T.arange(12.0)
    views = [
        x[2:],
        x.view(3, 4).t(),
        x.expand(2, 12),
        x[3:3],
        x.detach(),
        x.data,
        x.as_strided((2,), (5,), 1),
        x.clone(),
    ]
    return [
        [v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for v in views],
        [v.untyped_storage() is x.untyped_storage() for v in views],
        [v.untyped_storage()._cdata == x.untyped_storage()._cdata for v in views],
        [v.storage_offset() for v in views if v.numel()],
        [v.untyped_storage().nbytes() for v in views],
        [(v.data_ptr() - x.data_ptr()) // 4 for v in views[:3]],
        x.storage().data_ptr() == x.data_ptr(),
        x._typed_storage().data_ptr() == x.data_ptr(),
        T.empty(0).untyped_storage().data_ptr(),
        x.untyped_storage() == x[1:].untyped_storage(),
        x.untyped_storage() == x.clone().untyped_storage(),
    ]


@scenario
def storages_hold_the_numbers_of_all_views(T: Any) -> Any:
    return [
        [described(x.untyped_storage()), described(x.storage()), described(x._typed_storage())]
        for x in (
            T.arange(3.0)[1:],
            T.tensor([[1, 2], [3, 4]]).t()[0],
            T.tensor([True, False]),
            T.tensor([1.5], dtype=T.float16),
            T.tensor([1 + 2j]),
            T.tensor(4),
            T.empty(0),
        )
    ]


@scenario
def elements_of_storages(T: Any) -> Any:
    x = T.arange(4.0)
    typed, untyped = x.storage(), x.untyped_storage()
    typed[1] = 7
    typed[2:4] = 9.5
    untyped[0:4] = 255
    untyped[3] = 0
    return [
        x,
        [typed[0] != 0, typed[-1], untyped[7], untyped[-1]],
        untyped[4:8].tolist(),
        [attempt(lambda i=i: typed[i]) for i in (4, -5, slice(0, 2), "a")],
        [attempt(lambda i=i: untyped[i]) for i in (16, slice(0, 4, 2), "a")],
        list(typed)[1:],
        str(typed).split("\n")[1:],
        str(untyped[8:10]),
    ]


@scenario
def storages_are_filled_and_copied(T: Any) -> Any:
    x = T.arange(3.0)
    kept = x.storage().clone()
    copied = copy.copy(x.untyped_storage())
    x.storage().fill_(2)
    first = x.clone()
    x.storage().copy_(T.arange(5.0, 8.0).storage())
    return [
        first,
        x,
        x._version,
        kept.tolist(),
        copied.tolist(),
        attempt(lambda: bool(kept.copy_(T.ones(2).storage()))),
    ]


@scenario
def storages_convert(T: Any) -> Any:
    typed = T.tensor([0.0, 1.5, 2.0]).storage()
    names = ["double", "half", "long", "int", "short", "char", "byte", "bool", "float", "complex_float"]
    found = [getattr(typed, name)() for name in names]
    bytes_ = T.UntypedStorage([1, 2, 0])
    return [
        [(str(s.dtype), s.tolist(), s.type(), s.pickle_storage_type()) for s in found],
        bytes_.float().tolist(),
        bytes_.type(),
        typed.cpu() is not None,
    ]


@scenario
def storages_are_constructed(T: Any) -> Any:
    return [
        described(T.UntypedStorage([1, 255, 256])),
        T.UntypedStorage(5).nbytes(),
        T.UntypedStorage().nbytes(),
        [attempt(lambda v=v: T.UntypedStorage(v)) for v in (1.5, "ab", [1.0])],
        T.TypedStorage([1, 2], dtype=T.int32).tolist(),
        T.TypedStorage(3).size(),
        str(T.TypedStorage(3).dtype),
        T.TypedStorage(wrap_storage=T.UntypedStorage([0, 0, 128, 63]), dtype=T.float32).tolist(),
        attempt(lambda: T.TypedStorage(wrap_storage=T.UntypedStorage(4))),
        T.FloatStorage([1, 2]).tolist(),
        T.Storage([1.0, 2.0, 3.0]).tolist(),
        [isinstance(T.arange(2).storage(), c) for c in (T.LongStorage, T.FloatStorage, T.TypedStorage)],
        isinstance(T.FloatStorage([1]), T.FloatStorage),
        T.arange(2).storage_type() is T.LongStorage,
        T.FloatStorage.from_buffer(b"\x00\x00\x80\x3f", "little").tolist(),
        T.ShortStorage.from_buffer(b"\x00\x01", "big").tolist(),
        T.UntypedStorage.from_buffer(b"abcd", dtype=T.uint8).tolist(),
        [T.is_storage(s) for s in (T.UntypedStorage(), T.FloatStorage(1), T.ones(1), 3)],
    ]


@scenario
def tensors_on_storages(T: Any) -> Any:
    x = T.arange(6.0)
    shares = [T.empty(0).set_(x.untyped_storage()), T.empty(0).set_(x.storage()), T.FloatTensor(x.storage())]
    shares += [T.Tensor(x.untyped_storage()), T.empty(0).set_(x.untyped_storage(), 1, (2, 2), (2, 1))]
    shares += [T.empty(0).set_(x.storage(), 2, (2,)), T.empty(0).set_(x, 4, (2,), (1,))]
    shares += [T.empty(0).set_(source=x.untyped_storage(), storage_offset=0, size=T.Size([2]), stride=[3])]
    x.add_(10)
    return [
        *shares,
        [s.stride() for s in shares],
        [s.storage_offset() for s in shares],
        T.tensor(x.storage()),
        attempt(lambda: T.empty(0).set_(T.arange(3).storage())),
        attempt(lambda: T.empty(0).set_(x.storage(), -1, (2,))),
        attempt(lambda: T.empty(0).set_(T.UntypedStorage(4), 0, (3,)).untyped_storage().nbytes()),
        T.zeros(3).set_().shape,
    ]


@scenario
def storages_are_resized(T: Any) -> Any:
    x = T.arange(6.0)
    x.untyped_storage().resize_(0)
    freed = [x.untyped_storage().nbytes(), x.storage().size(), x.untyped_storage().data_ptr(), tuple(x.shape)]
    x.untyped_storage().resize_(24)
    alone = T.UntypedStorage([1, 2, 3])
    typed = T.FloatStorage([1, 2])
    return [
        freed,
        x.untyped_storage().nbytes(),
        alone.resize_(5).tolist()[:3],
        alone.nbytes(),
        alone.resize_(2).tolist(),
        alone.nbytes(),
        attempt(lambda: typed.resize_(3) and None),
        typed.tolist()[:2],
        typed.nbytes(),
    ]


@scenario
def copies_of_tensors_that_share_share_again(T: Any) -> Any:
    x = T.arange(4.0)
    a, b, s = copy.deepcopy([x[1:], x[:2], x.untyped_storage()])
    a[0] = 50
    typed = copy.deepcopy(x.storage())
    return [
        b,
        a.untyped_storage().data_ptr() == s.data_ptr(),
        s.nbytes(),
        typed.tolist(),
        typed.data_ptr() != x.data_ptr(),
    ]


@scenario
def storages_are_pickled(T: Any) -> Any:
    typed = pickle.loads(pickle.dumps(T.arange(3).storage()))
    return [typed.tolist(), str(typed.dtype)]


# -- tensors that are made to look at memory differently --------------------------------------------------------------


@scenario
def resize_with_a_memory_format(T: Any) -> Any:
    like = T.zeros(2, 3, 2, 2).contiguous(memory_format=T.channels_last)
    flat = T.arange(24.0)
    other = T.arange(24.0).resize_((2, 3, 2, 2), memory_format=T.channels_last)
    again = T.arange(24.0).view(2, 3, 2, 2).resize_((2, 3, 2, 2), memory_format=T.channels_last)
    return [
        flat.resize_as_(like, memory_format=T.preserve_format).stride(),
        flat,
        other.stride(),
        other,
        again,
        T.arange(24.0).resize_as_(like).stride(),
        T.arange(24.0).resize_as_(like, memory_format=T.contiguous_format).stride(),
        T.arange(24.0).resize_as_(T.zeros(2, 12).t(), memory_format=T.preserve_format).stride(),
        attempt(lambda: T.arange(24.0).resize_((2, 12), memory_format=T.preserve_format)),
        attempt(lambda: T.arange(24.0).resize_((2, 12), memory_format=T.channels_last)),
        T.arange(4.0)[2:].resize_(0, 3).stride(),
    ]


@scenario
def sizes_too_large_to_count(T: Any) -> Any:
    def refusal(function: Any) -> Any:
        return str(attempt(function)).split(" with sizes")[0].split(",")[0]

    x, y = T.zeros(2, 3), T.empty((), dtype=T.float64)
    return [
        refusal(lambda: T.as_strided(x, [1], [1], 2**63 - 1)),
        refusal(lambda: T.as_strided(x, [1], [1], 2**61 - 1)),
        refusal(lambda: y.resize_([2, 4, 2**29, 2**29])),
    ]
