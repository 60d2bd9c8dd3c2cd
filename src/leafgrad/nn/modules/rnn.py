"""Recurrent layers, RNN, LSTM and GRU, and the cells that compute one step of them."""

from __future__ import annotations

import math
import numbers
from typing import Any

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import init
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.linear import uninitialized
from leafgrad.nn.modules.module import Module
from leafgrad.nn.utils.rnn import PackedSequence
from leafgrad.ops.creation.factories import zeros
from leafgrad.ops.recurrent import cells, layers
from leafgrad.ops.signature import Device, Dtype

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
FUNCTIONS: dict[str, Any] = {
    "LSTM": layers.lstm, "GRU": layers.gru, "RNN_TANH": layers.rnn_tanh, "RNN_RELU": layers.rnn_relu,
}  # fmt: skip
ONLY_LSTM = "proj_size argument is only supported for LSTM, not RNN or GRU"


@named_by_subclass("forward")
class RNNBase(Module):
    """RNNBase(mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0): what RNN, LSTM and GRU have in common. Layer k in the usual direction has the
    parameters weight_ih_lk, weight_hh_lk, bias_ih_lk, bias_hh_lk; the other direction has `_reverse` behind them."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout) if is_probability(dropout) else dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options()
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._add_weights(layer, suffix, dtype, device)
        self.reset_parameters()

    def _check_options(self) -> None:
        if not is_probability(self.dropout):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            errors.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={self.dropout:g} and num_layers={self.num_layers}"
            )
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if kind is int and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    @property
    def _state_size(self) -> int:
        """The numbers of a state, which an LSTM may have projected to fewer."""
        return self.proj_size or self.hidden_size

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _add_weights(self, layer: int, suffix: str, dtype: Any, device: Any) -> None:
        """The parameters of a layer in one direction."""
        rows = GATES[self.mode] * self.hidden_size
        width = self.input_size if layer == 0 else self._state_size * self._directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, self._state_size)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for name, shape in shapes.items():
            names.append(f"{name}_l{layer}{suffix}")
            setattr(self, names[-1], uninitialized(shape, dtype, device))
        self._all_weights.append(names)

    def reset_parameters(self) -> None:
        """reset_parameters(): draw all of them uniformly from ±1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """flatten_parameters(): nothing; on other devices PyTorch puts the parameters side by side in memory."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, in a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    # PyTorch keeps these two lists and looks for them in a module from a file; here they are made of the others.
    def __getstate__(self) -> dict[str, Any]:
        names = self._flat_weights_names
        lists = {"_flat_weights_names": names, "_flat_weights": [getattr(self, name, None) for name in names]}
        return {**self.__dict__, **lists}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: state[name] for name in state if not name.startswith("_flat_weight")})

    # -- checks --

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """check_input(input, batch_sizes): complain about an input of another dtype or shape."""
        own = self._flat_weights[0].dtype
        if input.dtype != own:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({own}). Convert input: "
                f"input.to({own}), or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.size(-1)}\n  at {errors.here()}"
            )

    def _count(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        """How many sequences there are."""
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """get_expected_hidden_size(input, batch_sizes): the shape of the initial state."""
        return self.num_layers * self._directions, self._count(input, batch_sizes), self._state_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """check_hidden_size(hx, expected_hidden_size): complain about a state of another shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """check_forward_args(input, hidden, batch_sizes): complain about what does not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """permute_hidden(hx, permutation): the states of the sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # -- one call --

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        packed = input if isinstance(input, PackedSequence) else None
        is_single = False
        if packed is not None:
            input, sizes, order, back = packed
            hx = None if hx is None else self.permute_hidden(hx, order)
        else:
            sizes = order = back = None
            if input.dim() not in (2, 3):
                raise ValueError(self._wrong_dimensions(input.dim()))
            is_single = input.dim() == 2
            if is_single:
                input = input.unsqueeze(0 if self.batch_first else 1)
            if hx is not None:
                hx = self._checked_dimensions(hx, is_single)
        if hx is None:
            hx = self._initial(input, sizes)
        self.check_forward_args(input, hx, sizes)
        out, *last = self._run(input, sizes, hx)
        hidden: Any = tuple(last) if self.mode == "LSTM" else last[0]
        if packed is not None:
            return PackedSequence(out, sizes, order, back), self.permute_hidden(hidden, back)
        if is_single:
            out = out.squeeze(0 if self.batch_first else 1)
            hidden = tuple([state.squeeze(1) for state in last]) if self.mode == "LSTM" else hidden.squeeze(1)
        return out, hidden

    def _wrong_dimensions(self, given: int) -> str:
        words = f"{self.mode.partition('_')[0]}: Expected input to be 2D or 3D, got {given}D"
        return f"{words} tensor instead" if self.mode.startswith("RNN") else f"{words} instead"

    def _checked_dimensions(self, hx: Any, is_single: bool) -> Any:
        """The initial state of a batch, which for a single sequence has none."""
        if hx.dim() != (2 if is_single else 3):
            kind, wanted = ("unbatched 2-D", 2) if is_single else ("batched 3-D", 3)
            raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {hx.dim()}-D tensor")
        return hx.unsqueeze(1) if is_single else hx

    def _initial(self, input: Tensor, sizes: Any) -> Any:
        return zeros(self.get_expected_hidden_size(input, sizes), dtype=input.dtype)

    def _run(self, input: Tensor, sizes: Any, hx: Any) -> Any:
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        function = FUNCTIONS[self.mode]
        if sizes is not None:
            return function(input, sizes, hx, self._flat_weights, *options)
        return function(input, hx, self._flat_weights, *options, self.batch_first)

    def extra_repr(self) -> str:
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False,
        }  # fmt: skip
        own = [f"{name}={getattr(self, name)}" for name, usual in defaults.items() if getattr(self, name) != usual]
        return ", ".join([str(self.input_size), str(self.hidden_size), *own])


def is_probability(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool) and 0 <= value <= 1  # type: ignore[operator]


class RNN(RNNBase):
    """RNN(input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, batch_first=False, dropout=0.0,
    bidirectional=False): h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu. Returns (the states after all steps, the
    last ones of all layers)."""

    nonlinearity: str

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args: Any,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if "proj_size" in kwargs:
            raise ValueError(ONLY_LSTM)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False):
    with r, z = sigmoid(...) and n = tanh(W_in x + b_in + r (W_hn h + b_hn)), h' = (1 - z) n + z h. Returns (the states
    after all steps, the last ones of all layers)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError(ONLY_LSTM)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0): with i, f, o = sigmoid(...) and g = tanh(...), c' = f c + i g and h' = o tanh(c'). Returns (the states
    after all steps, (the last states of all layers, the last cells))."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """get_expected_cell_size(input, batch_sizes): the shape of the initial cell."""
        return self.num_layers * self._directions, self._count(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        self.check_input(input, batch_sizes)
        state, cell = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], state, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], cell, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        return hx if permutation is None else tuple([state.index_select(1, permutation) for state in hx])

    def _checked_dimensions(self, hx: Any, is_single: bool) -> Any:
        wanted = 2 if is_single else 3
        if hx[0].dim() != wanted or hx[1].dim() != wanted:
            kind = "unbatched 2-D" if is_single else "batched 3-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {wanted}-D but got "
                f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return tuple([state.unsqueeze(1) for state in hx]) if is_single else hx

    def _initial(self, input: Tensor, sizes: Any) -> Any:
        shapes = self.get_expected_hidden_size(input, sizes), self.get_expected_cell_size(input, sizes)
        return tuple([zeros(shape, dtype=input.dtype) for shape in shapes])


# -- cells ------------------------------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """RNNCellBase(input_size, hidden_size, bias, num_chunks): what the cells have in common."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = uninitialized((num_chunks * hidden_size, input_size), dtype, device)
        self.weight_hh = uninitialized((num_chunks * hidden_size, hidden_size), dtype, device)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, uninitialized((num_chunks * hidden_size,), dtype, device) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """reset_parameters(): draw all of them uniformly from ±1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        own = "" if self.bias is True else f", bias={self.bias}"
        kind = getattr(self, "nonlinearity", "tanh")
        return f"{self.input_size}, {self.hidden_size}{own}" + (f", nonlinearity={kind}" if kind != "tanh" else "")

    def _stepped(self, function: Any, input: Tensor, hx: Any) -> Any:
        """The state after one step, or the states of an LSTM, from (batch, features) or from a single vector."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        is_pair = isinstance(self, LSTMCell)
        for at, state in enumerate([] if hx is None else hx if is_pair else [hx]):
            if state.dim() not in (1, 2):
                called = f"hx[{at}]" if is_pair else "hidden"
                raise ValueError(f"{name}: Expected {called} to be 1D or 2D, got {state.dim()}D instead")
        is_single = input.dim() == 1
        if is_single:
            input = input.unsqueeze(0)
        if hx is None:
            state = zeros(input.size(0), self.hidden_size, dtype=input.dtype)
            hx = (state, state) if is_pair else state
        elif is_single:
            hx = tuple([state.unsqueeze(0) for state in hx]) if is_pair else hx.unsqueeze(0)
        found = function(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_single:
            return found
        return tuple([state.squeeze(0) for state in found]) if is_pair else found.squeeze(0)


class RNNCell(RNNCellBase):
    """RNNCell(input_size, hidden_size, bias=True, nonlinearity='tanh'): h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or
    relu."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._stepped(cells.rnn_tanh_cell if self.nonlinearity == "tanh" else cells.rnn_relu_cell, input, hx)


class LSTMCell(RNNCellBase):
    """LSTMCell(input_size, hidden_size, bias=True): one step of an LSTM; returns (the state, the cell)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        return self._stepped(cells.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    """GRUCell(input_size, hidden_size, bias=True): one step of a GRU; returns the state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        return self._stepped(cells.gru_cell, input, hx)
