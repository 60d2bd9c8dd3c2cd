"""The same work for other libraries, where they are installed: JAX, MLX and tinygrad, each written and compiled
(`jit`, `compile`, `TinyJit`) as its users would. What they do has the names of the workloads it stands beside."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.workload import Step

RATE = 1e-3
Function = Callable[..., Any]


def numbers(*shape: int) -> Any:
    import numpy as np

    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def weights() -> list[Any]:
    return [numbers(784, 128) * 0.03, numbers(128) * 0.03, numbers(128, 10) * 0.08, numbers(10) * 0.08]


def chain(x: Any) -> Any:
    for _ in range(20):
        x = x * 1.01
    return x


class Peer:
    """One library: how it differentiates a function, and how it trains."""

    module: str  # to be imported

    def __init__(self) -> None:
        self.library = importlib.import_module(self.module)

    def array(self, values: Any) -> Any:
        raise NotImplementedError

    def tanh(self, x: Any) -> Any:
        raise NotImplementedError

    def softmax(self, x: Any) -> Any:
        raise NotImplementedError

    def gradient(self, function: Function, inputs: list[Any]) -> Step:
        """A step that computes the function, and its gradients for a gradient of ones."""
        raise NotImplementedError

    def training(self, weights: list[Any], image: Any, label: Any) -> Step:
        """A step of SGD: two linear layers, relu between them, cross-entropy."""
        raise NotImplementedError

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1 + self.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    def step(self, name: str) -> Step:
        if name == CLASSIFIER:
            import numpy as np

            data = self.array(numbers(32, 784)), self.array(np.arange(32, dtype=np.int32) % 10)
            return self.training([self.array(values) for values in weights()], *data)
        function, *shapes = GRADIENTS[name]
        return self.gradient(function(self), [self.array(numbers(*shape)) for shape in shapes])


CLASSIFIER = "784-128-10, batch 32, SGD"
GRADIENTS: Mapping[str, tuple[Any, ...]] = {
    "chain of 20, 1,000": (lambda peer: chain, (1_000,)),
    "chain of 20, 1,048,576": (lambda peer: chain, (1_048_576,)),
    "tanh-gelu by operators, 4,194,304": (lambda peer: peer.gelu, (4_194_304,)),
    "softmax, 4,096x256": (lambda peer: peer.softmax, (4096, 256)),
    "matrix product, 512x512": (lambda peer: lambda a, b: a @ b, (512, 512), (512, 512)),
}
NAMES = (CLASSIFIER, *GRADIENTS)


class Jax(Peer):
    module = "jax"

    def array(self, values: Any) -> Any:
        return self.library.numpy.asarray(values)

    def tanh(self, x: Any) -> Any:
        return self.library.numpy.tanh(x)

    def softmax(self, x: Any) -> Any:
        return self.library.nn.softmax(x, 1)

    def gradient(self, function: Function, inputs: list[Any]) -> Step:
        jax = self.library

        def backward(*given: Any) -> Any:
            value, pull = jax.vjp(function, *given)
            return value, pull(jax.numpy.ones_like(value))

        compiled = jax.jit(backward)
        return lambda: jax.block_until_ready(compiled(*inputs))

    def training(self, weights: list[Any], image: Any, label: Any) -> Step:
        jax = self.library

        def loss(w: Any) -> Any:
            scores = jax.nn.relu(image @ w[0] + w[1]) @ w[2] + w[3]
            return -jax.nn.log_softmax(scores)[jax.numpy.arange(32), label].mean()

        update = jax.jit(lambda w: [p - RATE * g for p, g in zip(w, jax.grad(loss)(w), strict=True)])

        def step() -> None:
            weights[:] = jax.block_until_ready(update(weights))

        return step


class Mlx(Peer):
    module = "mlx.core"

    def __init__(self) -> None:
        super().__init__()
        self.library.set_default_device(self.library.cpu)

    def array(self, values: Any) -> Any:
        return self.library.array(values)

    def tanh(self, x: Any) -> Any:
        return self.library.tanh(x)

    def softmax(self, x: Any) -> Any:
        return self.library.softmax(x, 1)

    def gradient(self, function: Function, inputs: list[Any]) -> Step:
        mx = self.library
        ones = mx.ones_like(function(*inputs))
        compiled = mx.compile(lambda *given: mx.vjp(function, list(given), [ones]))
        return lambda: mx.eval(compiled(*inputs))

    def training(self, weights: list[Any], image: Any, label: Any) -> Step:
        mx = self.library

        def loss(w: Any) -> Any:
            scores = mx.maximum(image @ w[0] + w[1], 0) @ w[2] + w[3]
            return (mx.logsumexp(scores, 1) - mx.take_along_axis(scores, label[:, None], 1)[:, 0]).mean()

        update = mx.compile(lambda w: [p - RATE * g for p, g in zip(w, mx.grad(loss)(w), strict=True)])

        def step() -> None:
            weights[:] = update(weights)
            mx.eval(weights)

        return step


class Tinygrad(Peer):
    module = "tinygrad"

    def array(self, values: Any) -> Any:
        return self.library.Tensor(values).realize()

    def tanh(self, x: Any) -> Any:
        return x.tanh()

    def softmax(self, x: Any) -> Any:
        return x.softmax(1)

    def finished(self, function: Function, *given: Any) -> Step:
        """A step that waits for its results, after the calls that TinyJit learns from."""
        compiled = self.library.TinyJit(function)
        device = self.library.Device[self.library.Device.DEFAULT]

        def step() -> None:
            compiled(*given)
            device.synchronize()

        for _ in range(3):
            step()
        return step

    def gradient(self, function: Function, inputs: list[Any]) -> Step:
        def backward(*given: Any) -> Any:
            value = function(*given)
            return self.library.Tensor.realize(value, *value.gradient(*given, gradient=value.ones_like()))

        return self.finished(backward, *inputs)

    def training(self, weights: list[Any], image: Any, label: Any) -> Step:
        def update() -> None:
            scores = (image @ weights[0] + weights[1]).relu() @ weights[2] + weights[3]
            slopes = scores.sparse_categorical_crossentropy(label).gradient(*weights)
            self.library.Tensor.realize(*[p.assign(p - RATE * g) for p, g in zip(weights, slopes, strict=True)])

        return self.finished(update)


PEERS: Mapping[str, type[Peer]] = {"jax": Jax, "mlx": Mlx, "tinygrad": Tinygrad}


def load(name: str, threads: int) -> Peer:
    """Import it, for the CPU and on so many cores."""
    os.environ.update({"JAX_PLATFORMS": "cpu", "DEV": "CPU"})
    if hasattr(os, "sched_setaffinity"):  # they have no common way to choose the number of threads
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    return PEERS[name]()


def version(name: str) -> str:
    return importlib.metadata.version(name)
