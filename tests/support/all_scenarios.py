"""All scenarios whose results in PyTorch are stored in tests/data/scenarios.json, by "set.name"."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import amp_scenarios
import autograd_api_scenarios
import autograd_detail_scenarios
import backward_pass_scenarios
import call_scenarios
import checkpoint_scenarios
import forward_scenarios
import found_pass_scenarios
import found_scenarios
import function_scenarios
import function_transform_scenarios
import function_view_scenarios
import graph_scenarios
import inplace_scenarios
import layer_scenarios
import library_scenarios
import linearize_scenarios
import mode_scenarios
import module_hook_scenarios
import numeric_scenarios
import optimizer_scenarios
import override_scenarios
import saved_tensor_scenarios
import shape_scenarios
import sparse_scenarios
import storage_scenarios
import subclass_scenarios
import testing_scenarios
import topology_scenarios
import undefined_gradient_scenarios
import value_scenarios
import view_scenarios
from scenarios import Scenario, observe

SETS = {
    "amp": amp_scenarios,
    "autograd api": autograd_api_scenarios,
    "autograd details": autograd_detail_scenarios,
    "backward passes": backward_pass_scenarios,
    "calls": call_scenarios,
    "checkpoint": checkpoint_scenarios,
    "forward": forward_scenarios,
    "found": found_scenarios,
    "found in passes": found_pass_scenarios,
    "function": function_scenarios,
    "function transforms": function_transform_scenarios,
    "function views": function_view_scenarios,
    "graph": graph_scenarios,
    "in place": inplace_scenarios,
    "layers": layer_scenarios,
    "libraries": library_scenarios,
    "linearize": linearize_scenarios,
    "modes": mode_scenarios,
    "module hooks": module_hook_scenarios,
    "numbers": numeric_scenarios,
    "optimizers": optimizer_scenarios,
    "overrides": override_scenarios,
    "saved tensors": saved_tensor_scenarios,
    "subclasses": subclass_scenarios,
    "shapes": shape_scenarios,
    "sparse": sparse_scenarios,
    "storages": storage_scenarios,
    "testing": testing_scenarios,
    "topology": topology_scenarios,
    "undefined gradients": undefined_gradient_scenarios,
    "values": value_scenarios,
    "views": view_scenarios,
}
ALL: dict[str, Scenario] = {f"{group}.{name}": s for group, m in SETS.items() for name, s in m.SCENARIOS.items()}
STORED = Path(__file__).parents[1] / "data" / "scenarios.json"


def as_json(scenario: Scenario, module: Any) -> Any:
    """What a scenario shows, in the form it is stored in."""
    seen, given = observe(scenario, module)
    # PyTorch loads code that it has deprecated itself; and of some things it warns once in a process
    given = [w for w in given if "torch.jit" not in w[1] and "TypedStorage" not in w[1]]
    return json.loads(json.dumps((seen, given), default=in_parts))


def in_parts(value: Any) -> Any:
    if not isinstance(value, complex):
        return repr(value)
    return [part if math.isfinite(part) else repr(part) for part in (value.real, value.imag)]  # nan is not equal to nan
