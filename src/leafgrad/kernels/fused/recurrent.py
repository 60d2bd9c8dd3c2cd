"""One step of the cells of recurrent layers, after the products, and its gradient."""

from __future__ import annotations

from typing import Any

from leafgrad.kernels.language import Vector, elementwise, maximum, sigmoid, tanh, where


@elementwise
def lstm_step(of_i: Vector, of_f: Vector, of_g: Vector, of_o: Vector, before: Vector) -> Any:
    """The gates i, f, g and o, the cell and the state; given what the gates are functions of, and the cell before."""
    gate_i = sigmoid(of_i)
    gate_f = sigmoid(of_f)
    gate_g = tanh(of_g)
    gate_o = sigmoid(of_o)
    cell = gate_f * before + gate_i * gate_g
    return gate_i, gate_f, gate_g, gate_o, cell, gate_o * tanh(cell)


@elementwise
def lstm_step_backward(
    later: Vector, of_out: Vector, later_cell: Vector, of_cell: Vector, gate_i: Vector, gate_f: Vector, gate_g: Vector,
    gate_o: Vector, before: Vector, cell: Vector,
) -> Any:  # fmt: skip
    """The gradients of what the gates are functions of, and of the cell before; given those of state and cell, which
    come from later steps and from the results."""
    t = tanh(cell)
    of_state = later + of_out
    c = later_cell + of_cell + of_state * gate_o * (1 - t * t)
    return (
        c * gate_g * gate_i * (1 - gate_i),
        c * before * gate_f * (1 - gate_f),
        c * gate_i * (1 - gate_g * gate_g),
        of_state * t * gate_o * (1 - gate_o),
        c * gate_f,
    )


@elementwise
def gru_step(
    of_r: Vector, of_z: Vector, of_new: Vector, bias_r: Vector, bias_z: Vector, bias_new: Vector, pre_r: Vector,
    pre_z: Vector, pre_new: Vector, before: Vector,
) -> Any:  # fmt: skip
    """The gates r and z, what the state adds to the new values, these, and the state."""
    gate_r = sigmoid(of_r + bias_r + pre_r)
    gate_z = sigmoid(of_z + bias_z + pre_z)
    inner = of_new + bias_new
    new = tanh(pre_new + gate_r * inner)
    return gate_r, gate_z, inner, new, (before - new) * gate_z + new


@elementwise
def gru_step_backward(
    later: Vector, of_out: Vector, gate_r: Vector, gate_z: Vector, inner: Vector, new: Vector, before: Vector
) -> Any:
    """The gradients of what the inputs add to the gates and to the new values, of what the state adds to these, and of
    the state before, as far as it does not go through a product."""
    of_state = later + of_out
    to_new = of_state * (1 - gate_z) * (1 - new * new)
    to_inner = to_new * gate_r
    to_r = to_inner * inner * (1 - gate_r)
    return to_r, of_state * (before - new) * gate_z * (1 - gate_z), to_new, to_inner, of_state * gate_z


@elementwise
def rnn_tanh_step(x: Vector) -> Vector:
    return tanh(x)


@elementwise
def rnn_relu_step(x: Vector) -> Vector:
    return maximum(x, 0)


@elementwise
def rnn_tanh_step_backward(later: Vector, of_out: Vector, out: Vector) -> Vector:
    return (later + of_out) * (1 - out * out)


@elementwise
def rnn_relu_step_backward(later: Vector, of_out: Vector, out: Vector) -> Vector:
    return where(out > 0, later + of_out, 0)
