"""Every option of every optimiser, on a small network, for tests with PyTorch and with stored values."""

from __future__ import annotations

from typing import Any

import numpy as np

# Every option of every optimiser, alone and in the combinations that meet in the formulas.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd default": ("SGD", {}),
    "sgd momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "sgd nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "sgd dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "sgd decay": ("SGD", {"lr": 0.1, "weight_decay": 0.05}),
    "sgd maximize": ("SGD", {"lr": 0.001, "maximize": True}),
    "sgd all": ("SGD", {"lr": 0.05, "momentum": 0.8, "dampening": 0.2, "weight_decay": 0.01, "maximize": False}),
    "sgd all nesterov": ("SGD", {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.01, "nesterov": True}),
    "sgd all maximize": ("SGD", {"lr": 0.001, "momentum": 0.8, "weight_decay": 0.01, "maximize": True}),
    "adam": ("Adam", {"lr": 0.01}),
    "adam default": ("Adam", {}),
    "adam betas": ("Adam", {"lr": 0.01, "betas": (0.7, 0.9), "eps": 1e-5}),
    "adam decay": ("Adam", {"lr": 0.01, "weight_decay": 0.05}),
    "adam amsgrad": ("Adam", {"lr": 0.01, "amsgrad": True}),
    "adam maximize": ("Adam", {"lr": 0.001, "maximize": True}),
    "adam decoupled": ("Adam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "adam all": ("Adam", {"lr": 0.001, "weight_decay": 0.05, "amsgrad": True, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.01}),
    "adamw decay": ("AdamW", {"lr": 0.01, "weight_decay": 0.2}),
    "adamw no decay": ("AdamW", {"lr": 0.01, "weight_decay": 0}),
    "adamw amsgrad": ("AdamW", {"lr": 0.01, "amsgrad": True}),
    "adamw all": ("AdamW", {"lr": 0.001, "weight_decay": 0.1, "amsgrad": True, "maximize": True}),
    "rmsprop": ("RMSprop", {"lr": 0.0002}),
    "rmsprop alpha": ("RMSprop", {"lr": 0.0002, "alpha": 0.8, "eps": 1e-5}),
    "rmsprop decay": ("RMSprop", {"lr": 0.0002, "weight_decay": 0.05}),
    "rmsprop momentum": ("RMSprop", {"lr": 0.0002, "momentum": 0.7}),
    "rmsprop centered": ("RMSprop", {"lr": 0.0002, "centered": True}),
    "rmsprop maximize": ("RMSprop", {"lr": 0.0005, "maximize": True}),
    "rmsprop all": ("RMSprop", {"lr": 0.001, "momentum": 0.5, "centered": True, "weight_decay": 0.01}),
    "adamax": ("Adamax", {"lr": 0.01}),
    "adamax default": ("Adamax", {}),
    "adamax betas": ("Adamax", {"lr": 0.01, "betas": (0.7, 0.9), "eps": 1e-5}),
    "adamax decay": ("Adamax", {"lr": 0.01, "weight_decay": 0.05}),
    "adamax maximize": ("Adamax", {"lr": 0.001, "maximize": True}),
    "nadam": ("NAdam", {"lr": 0.004}),
    "nadam default": ("NAdam", {}),
    "nadam betas": ("NAdam", {"lr": 0.01, "betas": (0.7, 0.9), "eps": 1e-5, "momentum_decay": 0.1}),
    "nadam decay": ("NAdam", {"lr": 0.01, "weight_decay": 0.05}),
    "nadam decoupled": ("NAdam", {"lr": 0.002, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "nadam maximize": ("NAdam", {"lr": 0.001, "maximize": True}),
    "radam": ("RAdam", {"lr": 0.01}),
    "radam default": ("RAdam", {}),
    "radam betas": ("RAdam", {"lr": 0.01, "betas": (0.7, 0.9), "eps": 1e-5}),
    "radam never": ("RAdam", {"lr": 0.01, "betas": (0.7, 0.5)}),
    "radam decay": ("RAdam", {"lr": 0.01, "weight_decay": 0.05}),
    "radam decoupled": ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam maximize": ("RAdam", {"lr": 0.001, "maximize": True}),
    "adagrad": ("Adagrad", {"lr": 0.05}),
    "adagrad default": ("Adagrad", {}),
    "adagrad rates": ("Adagrad", {"lr": 0.05, "lr_decay": 0.1, "eps": 1e-5}),
    "adagrad decay": ("Adagrad", {"lr": 0.05, "weight_decay": 0.05}),
    "adagrad start": ("Adagrad", {"lr": 0.05, "initial_accumulator_value": 0.1}),
    "adagrad maximize": ("Adagrad", {"lr": 0.001, "maximize": True}),
    "adadelta": ("Adadelta", {}),
    "adadelta rho": ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-5}),
    "adadelta decay": ("Adadelta", {"weight_decay": 0.05}),
    "adadelta maximize": ("Adadelta", {"lr": 0.1, "maximize": True}),
    "rprop": ("Rprop", {"lr": 0.001}),
    "rprop default": ("Rprop", {}),
    "rprop etas": ("Rprop", {"lr": 0.001, "etas": (0.3, 1.1), "step_sizes": (1e-4, 0.01)}),
    "rprop maximize": ("Rprop", {"lr": 0.0001, "maximize": True}),
    "asgd": ("ASGD", {"lr": 0.1}),
    "asgd default": ("ASGD", {}),
    "asgd average": ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 5.0}),
    "asgd decay": ("ASGD", {"lr": 0.1, "weight_decay": 0.05}),
    "asgd maximize": ("ASGD", {"lr": 0.001, "maximize": True, "t0": 1.0}),
}


# Those that do not work element by element: they take no complex numbers, or matrices only, or call the closure often.
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "lbfgs": ("LBFGS", {"lr": 0.1, "max_iter": 3}),
    "lbfgs history": ("LBFGS", {"lr": 0.1, "max_iter": 3, "max_eval": 2, "history_size": 2}),
    "lbfgs wolfe": ("LBFGS", {"max_iter": 1, "max_eval": 10, "line_search_fn": "strong_wolfe"}),
    "lbfgs far": ("LBFGS", {"lr": 9.0, "max_iter": 1, "max_eval": 20, "line_search_fn": "strong_wolfe"}),
    "lbfgs near": ("LBFGS", {"lr": 0.15, "max_iter": 1, "max_eval": 5, "line_search_fn": "strong_wolfe"}),
    "adafactor": ("Adafactor", {}),
    "adafactor rates": ("Adafactor", {"lr": 0.03, "beta2_decay": -0.5, "d": 2.0}),
    "adafactor eps": ("Adafactor", {"lr": 0.05, "eps": (1e-3, 0.5), "weight_decay": 0.1}),
    "adafactor maximize": ("Adafactor", {"maximize": True, "foreach": False}),
    "muon": ("Muon", {"lr": 0.01}),
    "muon plain": ("Muon", {"lr": 0.01, "nesterov": False, "momentum": 0.5, "weight_decay": 0}),
    "muon adamw": ("Muon", {"lr": 0.01, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "eps": 1e-3}),
    "muon coefficients": ("Muon", {"lr": 0.01, "ns_coefficients": (2.0, -1.5, 0.5)}),
}
ALL = {**CASES, **OTHERS}

# Where the sign of a gradient decides, the last bit of a number that is nearly zero grows quickly.
FEW_STEPS = {"Rprop": 20}


def training(lib: Any, case: str, dtype: str = "float32") -> tuple[list[float], list[Any], Any]:
    """The losses of a small network, its parameters in the end, and the optimiser. Smooth functions only: at the
    corner of a ReLU one unit in the last place is enough to make two curves differ."""
    name, options = CASES[case]
    steps = FEW_STEPS.get(name, 100)
    lib.manual_seed(0)
    kind = getattr(lib, dtype)
    nn = lib.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 12), nn.Sigmoid(), nn.Linear(12, 3)).to(kind)
    inputs, targets = lib.randn(32, 8).to(kind), lib.randint(0, 3, (32,))
    criterion = nn.CrossEntropyLoss()
    optimizer = getattr(lib.optim, name)(model.parameters(), **options)
    losses = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        return loss

    for _ in range(steps):
        losses.append(optimizer.step(closure).item())
    return losses, [np.array(p.detach().tolist()) for p in model.parameters()], optimizer


def precision_of(case: str, dtype: str) -> float:
    """How well two libraries agree after twenty steps."""
    if ALL[case][0] == "Muon":
        return 3e-3  # bfloat16 has eight bits, and the steps add up to 0.2
    if ALL[case][0] == "LBFGS":  # divides by small differences of gradients
        return 1e-4 if dtype == "float32" else 1e-11
    return 1e-5 if dtype == "float32" else 1e-11


def twenty_steps(lib: Any, case: str, dtype: str) -> list[float]:
    """The parameters of a tiny network after 20 steps."""
    name, options = ALL[case]
    lib.manual_seed(0)
    kind, nn = getattr(lib, dtype), lib.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).to(kind)
    inputs, targets = lib.randn(8, 3).to(kind), lib.randn(8, 2).to(kind)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    optimizer = getattr(lib.optim, name)(matrices if name == "Muon" else model.parameters(), **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        return loss

    # each step of a line search makes several, and the last bit may decide how many
    for _ in range(8 if "line_search_fn" in options else 20):
        optimizer.step(closure)
    return [number for p in model.parameters() for number in p.detach().reshape(-1).tolist()]
