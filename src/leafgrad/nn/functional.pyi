# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """dropout that keeps mean 0 and variance 1."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: builtins.bool = False, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized over all samples: in training by the statistics of the input, which the running ones follow, otherwise by the running ones."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """the sum over i and j of input1[..., i] weight[o, i, j] input2[..., j], plus bias[o]."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """-weight * (target * log(input) + (1 - target) * log(1 - input)), where no logarithm counts less than -100."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """-weight * (pos_weight * target * log(p) + (1 - target) * log(1 - p)) of p = sigmoid(input)."""
@overload
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
@overload
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
@overload
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv1d: each element of the input times the weight, added up where the windows are."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv2d: each element of the input times the weight, added up where the windows are."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv3d: each element of the input times the weight, added up where the windows are."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', label_smoothing: builtins.float = 0.0) -> Tensor:
    """the negative log likelihood of classes, or of probabilities, under softmax(input)."""
def dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """zero with probability p, else x / (1 - p)."""
def dropout1d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, L) or (C, L)."""
def dropout2d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, H, W)."""
def dropout3d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, D, H, W) or (C, D, H, W)."""
def embedding(input: Tensor, weight: Tensor, padding_idx: builtins.int | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2.0, scale_grad_by_freq: builtins.bool = False, sparse: builtins.bool = False) -> Tensor:
    """the rows of weight that the indices in input name; the row `padding_idx` gets no gradient."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2, scale_grad_by_freq: builtins.bool = False, mode: builtins.str = 'mean', sparse: builtins.bool = False, per_sample_weights: Tensor | None = None, include_last_offset: builtins.bool = False, padding_idx: builtins.int | None = None) -> Tensor:
    """the sum, mean or maximum of the rows of weight that each bag of indices names: a row of a matrix, or a piece of a vector from an offset on."""
def feature_alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized in groups, in each sample."""
def huber_loss(input: Tensor, target: Tensor, reduction: builtins.str = 'mean', delta: builtins.float = 1.0, weight: Tensor | None = None) -> Tensor:
    """(input - target)**2 / 2, continued as straight lines beyond delta; its mean, its sum, or itself."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: builtins.bool = True, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized in each sample."""
def l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """|input - target|, its mean, its sum, or itself."""
def layer_norm(input: Tensor, normalized_shape: Sequence[builtins.int], weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """standardized over the last dimensions."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, for inputs (..., k) and a weight (m, k)."""
def log_softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: Dtype | None = None) -> Tensor:
    """x - log(sum(exp(x))) along `dim`."""
def logsigmoid(input: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))) of each element, for large negative x as well."""
def mse_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """(input - target)**2, its mean, its sum, or itself."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: builtins.int, num_heads: builtins.int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: builtins.bool, dropout_p: builtins.float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: builtins.bool = True, key_padding_mask: Tensor | None = None, need_weights: builtins.bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: builtins.bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: builtins.bool = True, is_causal: builtins.bool = False) -> tuple[Tensor, Tensor | None]:
    """what nn.MultiheadAttention computes, and the weights of the average if `need_weights`. Sequences are (length, batch, features)."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """-weight[target] * input[target] of log-probabilities `input`; the mean is weighted."""
def one_hot(tensor: Tensor, num_classes: builtins.int = -1) -> Tensor:
    """for each index a vector of zeros with a one at that index."""
def pad(input: Tensor, pad: Shape, mode: builtins.str = 'constant', value: builtins.float | None = None) -> Tensor:
    """more elements around the last dimensions, pad = (left, right, top, bottom, ...): `value`, or own elements, with mode 'reflect', 'replicate' or 'circular'."""
def relu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """max(0, x), element by element."""
def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
def rms_norm(input: Tensor, normalized_shape: Sequence[builtins.int], weight: Tensor | None = None, eps: builtins.float | None = None) -> Tensor:
    """x / sqrt(mean(x**2) + eps) over the last dimensions."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: builtins.float = 0.0, is_causal: builtins.bool = False, *, scale: builtins.float | None = None, enable_gqa: builtins.bool = False) -> Tensor:
    """softmax(scale * query @ keyᵀ + mask) @ value, with scale = 1 / sqrt(the numbers of a query). A bool mask tells which keys count; with `is_causal`, no key after a query's own place does."""
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', beta: builtins.float = 1.0) -> Tensor:
    """|input - target|, with the corner below beta replaced by a parabola; its mean, its sum, or itself."""
def softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: Dtype | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
def tanh(input: Tensor) -> Tensor:
    """the hyperbolic tangent of each element."""
