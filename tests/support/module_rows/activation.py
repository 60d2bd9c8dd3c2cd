"""Activations."""

from __future__ import annotations

from typing import Any

from module_cases import Case

SHAPE = (2, 4, 3)
PLAIN = (
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish",
    "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax2d", "Softplus", "Softshrink", "Softsign",
    "Tanh", "Tanhshrink",
)  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "CELU": {"alpha": 0.7},
    "ELU": {"alpha": 1.5},
    "GELU": {"approximate": "tanh"},
    "GLU": {"dim": 1},
    "Hardshrink": {"lambd": 0.8},
    "Hardtanh": {"min_val": -0.5, "max_val": 2},
    "LeakyReLU": {"negative_slope": 0.2},
    "LogSoftmax": {"dim": 1},
    "PReLU": {"num_parameters": 4, "init": 0.4},
    "RReLU": {"lower": 0.2, "upper": 0.7},
    "Softmax": {"dim": 1},
    "Softmin": {"dim": 2},
    "Softplus": {"beta": 2, "threshold": 1},
    "Softshrink": {"lambd": 0.25},
    "Threshold": {"threshold": 0.1, "value": 20},
}
IN_PLACE = ("CELU", "ELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "RReLU", "ReLU", "ReLU6",
            "SELU", "SiLU")  # fmt: skip


def made(name: str, **options: Any) -> Any:
    return lambda nn: getattr(nn, name)(**options)


ROWS = {
    **{name: Case(made(name), SHAPE) for name in PLAIN},
    **{f"{name} with options": Case(made(name, **options), SHAPE) for name, options in OPTIONS.items()},
    **{
        f"{name} in place": Case(made(name, inplace=True), SHAPE, call=lambda module, x: module(x * 1))
        for name in IN_PLACE
    },
}
