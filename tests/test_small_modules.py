"""Futures, sizes that are numbers, and what programs ask of GPUs' libraries."""

import threading

import pytest

import leafgrad


def test_a_future_runs_what_follows():
    future = leafgrad.futures.Future()
    following = future.then(lambda done: done.wait() + 1)
    seen = []
    future.add_done_callback(lambda done: seen.append(done.value()))
    assert not future.done()
    with pytest.raises(RuntimeError, match="not completed"):
        future.value()
    threading.Timer(0.01, future.set_result, [3]).start()
    assert following.wait() == 4 and future.value() == 3 and seen == [3]
    assert leafgrad.futures.wait_all([future, following]) == [3, 4]
    assert leafgrad.futures.collect_all([]).wait() == []
    with pytest.raises(RuntimeError, match="once"):
        future.set_result(4)


def test_errors_of_futures():
    future = leafgrad.futures.Future()
    future.set_exception(ValueError("a"))
    with pytest.raises(ValueError, match="a"):
        future.wait()
    with pytest.raises(RuntimeError, match="running the callback: ValueError: a"):
        future.then(lambda done: done.wait()).wait()
    with pytest.raises(AssertionError, match="not an Exception"):
        leafgrad.futures.Future().set_exception(3)


def test_sizes_are_numbers():
    assert not isinstance(3, (leafgrad.SymInt, leafgrad.SymFloat, leafgrad.SymBool))
    assert leafgrad.sym_max(3, 2.5) == 3.0 and isinstance(leafgrad.sym_max(3, 2.5), float)
    assert leafgrad.sym_min(1, 2) == 1 and leafgrad.sym_int(-2.7) == -2 and leafgrad.sym_sum([1, 2]) == 3
    assert leafgrad.sym_float(3) == 3.0 and leafgrad.sym_ite(False, 1, 2) == 2 and leafgrad.sym_not(0)
    assert leafgrad.sym_sqrt(4) == 2.0
    with pytest.raises(TypeError):
        leafgrad.SymInt(3)


def test_one_of_two_functions():
    x = leafgrad.ones(2)
    assert leafgrad.cond(x.sum() > 1, lambda x: x + 1, lambda x: x - 1, (x,)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="callable"):
        leafgrad.cond(True, 1, 2)


def test_libraries_of_gpus():
    cuda = leafgrad.backends.cuda
    q = leafgrad.ones(1, 1, 1, 1)
    params = cuda.SDPAParams(q, q, q, None, 0.0, False, False)
    assert not cuda.can_use_flash_attention(params) and not cuda.can_use_efficient_attention(params, True)
    assert cuda.preferred_linalg_library() == "default"


def test_functions_without_a_page():
    x = leafgrad.arange(6.0).view(2, 3)
    assert leafgrad.norm_except_dim(x, 1, 0).tolist() == [[3], [12]]
    assert leafgrad.norm_except_dim(x, 1, -1).item() == 15
    assert leafgrad.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    assert leafgrad.nuclear_norm(leafgrad.eye(3)).item() == 3
    assert leafgrad.frobenius_norm(x, (0, 1)).item() == pytest.approx(55**0.5)
    kept, mask = leafgrad.native_dropout(leafgrad.ones(100), 0.5, True)
    assert leafgrad.equal(kept, mask * 2.0)
    for wrong in ((0, 0), (0,), (0, 5)):
        with pytest.raises(RuntimeError):
            leafgrad.empty_permuted((2, 3), wrong)


def test_unset_memory_is_filled_where_algorithms_shall_be_deterministic():
    leafgrad.use_deterministic_algorithms(True)
    try:
        assert leafgrad.empty(2).isnan().all() and leafgrad.empty_like(leafgrad.ones(3)).isnan().all()
        assert leafgrad.empty(2, dtype=leafgrad.complex64).isnan().all()
        assert leafgrad.empty(1, dtype=leafgrad.int8).item() == 127 and leafgrad.empty(1, dtype=leafgrad.bool).item()
        assert leafgrad.ones(1).new_empty(2).isnan().all() and leafgrad.empty_strided((2,), (2,)).isnan().all()
        leafgrad.utils.deterministic.fill_uninitialized_memory = False
        leafgrad.empty(2)
    finally:
        leafgrad.utils.deterministic.fill_uninitialized_memory = True
        leafgrad.use_deterministic_algorithms(False)


def test_helpers_of_libraries():
    helpers = leafgrad._utils
    tensors = [leafgrad.arange(3.0), leafgrad.ones(2, 2)]
    flat = helpers._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 1, 2, 1, 1, 1, 1]
    again = helpers._unflatten_dense_tensors(flat, tensors)
    assert [t.tolist() for t in again] == [t.tolist() for t in tensors]
    again[0].zero_()
    assert flat[2] == 0
    numbers = leafgrad.ones(2, dtype=leafgrad.int64)
    assert [len(group) for group in helpers._take_tensors([*tensors, numbers], 12)] == [1, 1, 1]
    assert [len(group) for group in helpers._take_tensors([*tensors, numbers], 100)] == [2, 1]
    assert helpers._reorder_tensors_as([numbers, *tensors], [*tensors, numbers])[2] is numbers
    assert helpers._get_device_index("cpu", allow_cpu=True) == -1 and helpers._get_device_index(1) == 1
    assert helpers._get_device_index(None, optional=True) is None
    with pytest.raises(ValueError, match="Expected a non cpu device"):
        helpers._get_device_index("cpu")
    with pytest.raises(ValueError, match="with a specified index"):
        helpers._get_device_index(None)
    try:
        {}["missing"]
    except KeyError:
        wrapped = helpers.ExceptionWrapper(where="in a test")
    with pytest.raises(KeyError, match="Caught KeyError in a test"):
        wrapped.reraise()
    assert wrapped.exc_type is KeyError and "missing" in wrapped.exc_msg
