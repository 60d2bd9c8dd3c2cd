"""Scenarios of modules and their functions: what they refuse, and how results lie in memory. See scenarios.py."""

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


@scenario
def paths_of_layers(T: Any) -> Any:
    """Programs ask for `nn.modules.batchnorm._BatchNorm` without an import of its own."""
    modules = T.nn.modules
    found = [modules.batchnorm._BatchNorm, modules.conv._ConvNd, modules.loss._Loss, modules.rnn.RNNBase]
    found += [modules.lazy.LazyModuleMixin, modules.linear.Linear, modules.pooling.MaxPool2d]
    return [kind.__name__ for kind in found] + [hasattr(T.nn.common_types, "_size_2_t")]


@scenario
def modules_in_a_memory_format(T: Any) -> Any:
    flat = lambda *args, **named: T.nn.Conv2d(3, 4, 2).to(*args, **named).weight
    solid = lambda *args, **named: T.nn.Conv3d(3, 4, 2).to(*args, **named).weight
    last, last_3d = T.channels_last, T.channels_last_3d
    calls = [
        lambda: flat(memory_format=last).stride(), lambda: solid(memory_format=last_3d).stride(),
        lambda: flat(T.float64, memory_format=last).stride(), lambda: solid(memory_format=last).stride(),
        lambda: flat("cpu", T.float64, memory_format=last_3d), lambda: flat(memory_format=T.preserve_format).stride(),
        lambda: str(flat(T.ones(1, dtype=T.float64)).dtype), lambda: str(flat(T.complex64).dtype),
        lambda: flat(memory_format=3), lambda: flat(unknown=3),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def uninitialized_parameters_refused(T: Any) -> Any:
    """What needs a shape cannot be done before the first input."""
    parameters = T.nn.LazyLinear(3).parameters
    kinds = [T.optim.SGD, T.optim.Adam, T.optim.RMSprop, T.optim.LBFGS]
    kept = [type(kind(parameters()).param_groups[0]["params"][0]).__name__ for kind in kinds]
    refused = attempt(T.optim.Adagrad, parameters()).partition(" in ")[0]
    scripted = attempt(T.jit.script, T.nn.LazyLinear(3, bias=False))
    return [kept, refused, scripted, attempt(T.nn.LazyLinear(3).share_memory)]


@scenario
def sizes_of_windows(T: Any) -> Any:
    """They are numbers of 32 bits, and how many there are is checked in as many ways as there are functions."""
    F, x = T.nn.functional, T.ones(1, 3, 10, 10)
    line, solid, large = x[0], T.ones(1, 3, 4, 4, 4), 2**40
    indexed = T.max_pool1d_with_indices
    calls = [
        lambda: F.avg_pool2d(x, large), lambda: F.avg_pool2d(x, 3, large), lambda: F.avg_pool1d(x[0], large),
        lambda: F.avg_pool3d(solid, large), lambda: F.max_pool2d(x, large), lambda: F.max_pool2d(x, 3, dilation=large),
        lambda: F.max_pool3d(solid, 9223372036854775803), lambda: F.lp_pool2d(x, 2, large),
        lambda: F.adaptive_max_pool1d(line[0], 2**62 - 1), lambda: F.adaptive_avg_pool2d(x, 2**62 - 1),
        lambda: indexed(line[0], 6, 2, 0, 2), lambda: F.max_pool1d(line[0], 6, 2, 0, 2),
        lambda: indexed(line[0], (3, 2)), lambda: indexed(line[0], 3, (2, 2)), lambda: indexed(line[0], 3, 2, (0, 1)),
        lambda: indexed(line[0], 0), lambda: indexed(line[0], 3, 2, 2), lambda: indexed(line[0], 3, 2, -1),
        lambda: indexed(x, 3), lambda: indexed(line[:0], 3), lambda: indexed(line[0], 3),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def numbers_of_fractional_pooling(T: Any) -> Any:
    def pooled(samples: Any, *shape: int) -> Any:
        T.manual_seed(0)
        layer = T.nn.FractionalMaxPool2d if len(shape) < 5 else T.nn.FractionalMaxPool3d
        x = T.arange(float(T.Size(shape).numel())).reshape(shape).sin()
        return attempt(layer(2, output_size=2, _random_samples=samples), x)

    square, cube = (2, 3, 6, 6), (2, 3, 6, 6, 6)
    shapes = [(2, 3, 2), (3, 3, 2), (1, 3, 2), (2, 4, 2), (2, 3, 3), (2, 3)]
    T.manual_seed(0)
    found = [pooled(T.rand(shape), *square) for shape in shapes]
    found += [pooled(T.rand(shape), *cube) for shape in [(2, 3, 3), (0, 3, 3), (2, 2, 3), (2, 3, 2)]]
    found += [pooled(T.rand(2, 3, 2, dtype=T.float64), *square), pooled(T.rand(0, 3, 2), 0, 3, 6, 6)]
    windows = [0, -1, [0, 0, 0], (1, -1, 2)]
    return found + [attempt(T.nn.FractionalMaxPool3d, size, 1) for size in windows]


@scenario
def sizes_of_unpooling(T: Any) -> Any:
    def unpooled(dims: int) -> Any:
        x = T.ones((1,) * (dims + 2))
        return attempt(getattr(T.nn, f"MaxUnpool{dims}d")(()), x, T.zeros_like(x, dtype=T.int64))

    return [unpooled(dims) for dims in (1, 2, 3)]


@scenario
def means_of_images_with_channels_last(T: Any) -> Any:
    x = T.arange(48.0).reshape(2, 3, 2, 4).requires_grad_()
    y = T.nn.functional.adaptive_avg_pool2d(x.to(memory_format=T.channels_last), 1)
    (y * T.arange(6.0).reshape(2, 3, 1, 1)).sum().backward()
    cube = T.ones(2, 3, 2, 2, 2).to(memory_format=T.channels_last_3d)
    others = [x, x[:, :, ::2], x.to(memory_format=T.channels_last)[:0]]
    strides = [T.nn.functional.adaptive_avg_pool2d(other, 1).stride() for other in others]
    return [y, y.stride(), x.grad, T.nn.functional.adaptive_avg_pool3d(cube, 1).stride(), strides]


@scenario
def gradients_of_pooling_as_functions(T: Any) -> Any:
    aten = T.ops.aten
    mean, largest = aten._adaptive_avg_pool2d_backward, aten.adaptive_max_pool2d_backward
    g, x, at = T.arange(8.0).reshape(1, 2, 2, 2), T.ones(1, 2, 3, 4), T.arange(8).reshape(1, 2, 2, 2)
    windows = 2, (1, 2), 0, 1, False
    calls = [
        lambda: mean(g, x), lambda: mean(g[0], x[0]), lambda: mean(g[0], x), lambda: mean(g[0, 0], x[0, 0]),
        lambda: mean(g.double(), x), lambda: aten._adaptive_avg_pool3d_backward(g, x),
        lambda: aten._adaptive_avg_pool3d_backward(g[None], x[None]),
        lambda: largest(g, x, at), lambda: largest(g, x, at[..., :1]), lambda: largest(g, x, at[0]),
        lambda: largest(g.double(), x, at), lambda: aten.adaptive_max_pool3d_backward(g, x, at),
        lambda: aten.adaptive_max_pool3d_backward(g, x, at[..., :1]),
        lambda: aten.fractional_max_pool2d_backward(g, x, (2, 2), (2, 2), at),
        lambda: aten.fractional_max_pool2d_backward(g[..., :1], x, (2, 2), (2, 2), at),
        lambda: aten.max_pool2d_with_indices_backward(g, x, *windows, at),
        lambda: aten.max_pool2d_with_indices_backward(g[..., :1], x, *windows, at),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def what_layers_refuse(T: Any) -> Any:
    nn, F, x = T.nn, T.nn.functional, T.arange(12.0).reshape(3, 4)
    calls = [
        lambda: nn.BatchNorm1d(4, eps=0.0)(x), lambda: nn.BatchNorm1d(4, eps=0.0).eval()(x),
        lambda: F.batch_norm(x, None, None, training=True, eps=-0.1),
        lambda: F.multi_margin_loss(x, T.tensor([0, 1])), lambda: F.multi_margin_loss(x, T.zeros(3, 1).long()),
        lambda: F.multi_margin_loss(x[0], T.tensor([0, 1])), lambda: F.multi_margin_loss(x, T.tensor([0, 1, 2])),
        *[lambda shape=shape: F.gaussian_nll_loss(x, x + 1, T.ones(shape)) for shape in [3, 4, (1, 4), (3, 1), (1, 1)]],
        lambda: nn.Embedding(-1, 3), lambda: nn.EmbeddingBag(3, -1), lambda: nn.Linear(-1, 3),
        lambda: nn.Conv2d(-1, 3, 2),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def dimensions_of_circular_padding(T: Any) -> Any:
    shapes = [(2,), (2, 3), (2, 3, 2), (2, 3, 2, 3), (2, 2, 2, 2, 2), (1, 1, 1, 1, 1, 1)]
    layers = [T.nn.CircularPad1d(1), T.nn.CircularPad2d(1), T.nn.CircularPad3d(1)]
    return [attempt(lambda: layer(T.ones(shape)).shape) for layer in layers for shape in shapes]  # noqa: B023
