# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def adaptive_avg_pool1d(input: Tensor, output_size: DimOrDims) -> Tensor:
    """the means of as many windows."""
def adaptive_avg_pool2d(input: Tensor, output_size: DimOrDims) -> Tensor:
    """the means of as many windows."""
def adaptive_avg_pool3d(input: Tensor, output_size: DimOrDims) -> Tensor:
    """the means of as many windows."""
def adaptive_max_pool1d(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest elements of as many windows; with return_indices, their indices as well."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest elements of as many windows, and their indices."""
def adaptive_max_pool2d(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest elements of as many windows; with return_indices, their indices as well."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest elements of as many windows, and their indices."""
def adaptive_max_pool3d(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest elements of as many windows; with return_indices, their indices as well."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: DimOrDims, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest elements of as many windows, and their indices."""
def affine_grid(theta: Tensor, size: Any, align_corners: builtins.bool | None = None) -> Tensor:
    """the grid for grid_sample that maps images of this size by theta, (n, 2, 3) or (n, 3, 4)."""
def alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """dropout that keeps mean 0 and variance 1."""
def avg_pool1d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True) -> Tensor:
    """the mean of each window."""
def avg_pool2d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """the mean of each window."""
def avg_pool3d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True, divisor_override: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """the mean of each window."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: builtins.bool = False, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized over all samples: in training by the statistics of the input, which the running ones follow, otherwise by the running ones."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """the sum over i and j of input1[..., i] weight[o, i, j] input2[..., j], plus bias[o]."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """-weight * (target * log(input) + (1 - target) * log(1 - input)), where no logarithm counts less than -100."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """-weight * (pos_weight * target * log(p) + (1 - target) * log(1 - p)) of p = sigmoid(input)."""
def celu(input: Tensor, alpha: Number = 1.0, inplace: builtins.bool = False) -> Tensor:
    """x above zero, alpha (exp(x / alpha) - 1) below."""
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """celu, in place."""
def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """of channels (n, groups * c, ...), the first of each group, then the second."""
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
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0) -> Tensor:
    """the convolution of an input (time, batch, channels) with a weight (width, channels, output channels), plus the bias, with `pad` zeros before and after."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv1d: each element of the input times the weight, added up where the windows are."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv2d: each element of the input times the weight, added up where the windows are."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv3d: each element of the input times the weight, added up where the windows are."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """1 - cos of two vectors for a target of 1, max(0, cos - margin) for -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08) -> Tensor:
    """the cosine of the angle between vectors along a dimension, whose norms count as eps at least."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', label_smoothing: builtins.float = 0.0) -> Tensor:
    """the negative log likelihood of classes, or of probabilities, under softmax(input)."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[builtins.int], target_lengths: Tensor | Sequence[builtins.int], blank: builtins.int = 0, reduction: builtins.str = 'mean', zero_infinity: builtins.bool = False) -> Tensor:
    """minus the logarithm of the probability that the labels of the target, with blanks between them and each repeated at will, come out of log-probabilities (time, sample, label). The mean is one over the labels of each sample first."""
def dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """zero with probability p, else x / (1 - p)."""
def dropout1d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, L) or (C, L)."""
def dropout2d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, H, W)."""
def dropout3d(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = True, inplace: builtins.bool = False) -> Tensor:
    """dropout of the channels of (N, C, D, H, W) or (C, D, H, W)."""
def elu(input: Tensor, alpha: Number = 1.0, inplace: builtins.bool = False) -> Tensor:
    """x above zero, alpha (exp(x) - 1) below."""
def elu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """elu, in place."""
def embedding(input: Tensor, weight: Tensor, padding_idx: builtins.int | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2.0, scale_grad_by_freq: builtins.bool = False, sparse: builtins.bool = False) -> Tensor:
    """the rows of weight that the indices in input name; the row `padding_idx` gets no gradient."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2, scale_grad_by_freq: builtins.bool = False, mode: builtins.str = 'mean', sparse: builtins.bool = False, per_sample_weights: Tensor | None = None, include_last_offset: builtins.bool = False, padding_idx: builtins.int | None = None) -> Tensor:
    """the sum, mean or maximum of the rows of weight that each bag of indices names: a row of a matrix, or a piece of a vector from an offset on."""
def feature_alpha_dropout(input: Tensor, p: builtins.float = 0.5, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
def fold(input: Tensor, output_size: DimOrDims, kernel_size: DimOrDims, dilation: DimOrDims = 1, padding: DimOrDims = 0, stride: DimOrDims = 1) -> Tensor:
    """columns (n, c * window, positions) added up to an image of this size."""
def fractional_max_pool2d(input: Tensor, kernel_size: DimOrDims, output_size: DimOrDims | None = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """the largest elements of windows at random places, so many that the result has this size; with return_indices, their indices as well."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: DimOrDims, output_size: DimOrDims | None = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """the largest elements of windows at random places, so many that the result has this size, and their indices."""
def fractional_max_pool3d(input: Tensor, kernel_size: DimOrDims, output_size: DimOrDims | None = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """the largest elements of windows at random places, so many that the result has this size; with return_indices, their indices as well."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: DimOrDims, output_size: DimOrDims | None = None, output_ratio: Any = None, return_indices: builtins.bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """the largest elements of windows at random places, so many that the result has this size, and their indices."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | builtins.float, full: builtins.bool = False, eps: builtins.float = 1e-06, reduction: builtins.str = 'mean') -> Tensor:
    """(log(var) + (input - target)**2 / var) / 2, for variances of at least eps; `full` adds log(2 pi) / 2."""
def gelu(input: Tensor, *, approximate: builtins.str = 'none', out: Tensor | None = None) -> Tensor:
    """x times the probability that a standard normal variable is below x."""
def glu(input: Tensor, dim: Dim = -1) -> Tensor:
    """one half of input along a dimension times the sigmoid of the other."""
def grid_sample(input: Tensor, grid: Tensor, mode: builtins.str = 'bilinear', padding_mode: builtins.str = 'zeros', align_corners: builtins.bool | None = None) -> Tensor:
    """the values of images at the places of a grid (n, height, width, 2), whose coordinates, x first, go from -1 to 1."""
def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized in groups, in each sample."""
def gumbel_softmax(logits: Tensor, tau: builtins.float = 1, hard: builtins.bool = False, eps: builtins.float = 1e-10, dim: builtins.int = -1) -> Tensor:
    """the softmax of (logits + Gumbel noise) / tau; with `hard` a one-hot sample, whose gradient is that of the softmax."""
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """each element, or zero where it is between -lambd and lambd."""
def hardsigmoid(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x / 6 + 1 / 2, but not below 0 and not above 1."""
def hardswish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x times hardsigmoid(x)."""
def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0, inplace: builtins.bool = False) -> Tensor:
    """x, but not below min_val and not above max_val."""
def hardtanh_(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """hardtanh, in place."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: builtins.float = 1.0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """the input where the target is 1, max(0, margin - input) where it is -1."""
def huber_loss(input: Tensor, target: Tensor, reduction: builtins.str = 'mean', delta: builtins.float = 1.0, weight: Tensor | None = None) -> Tensor:
    """(input - target)**2 / 2, continued as straight lines beyond delta; its mean, its sum, or itself."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: builtins.bool = True, momentum: builtins.float = 0.1, eps: builtins.float = 1e-05) -> Tensor:
    """channels (dimension 1) standardized in each sample."""
def interpolate(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None, mode: builtins.str = 'nearest', align_corners: builtins.bool | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False) -> Tensor:
    """an input (n, c, ...) resampled to a size, or by a factor. Modes: nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area."""
def kl_div(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', log_target: builtins.bool = False) -> Tensor:
    """target * (log(target) - input) of log-probabilities `input`; its mean, its sum, itself, or its sum divided by the number of samples ('batchmean')."""
def l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """|input - target|, its mean, its sum, or itself."""
def layer_norm(input: Tensor, normalized_shape: Sequence[builtins.int], weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05) -> Tensor:
    """standardized over the last dimensions."""
def leaky_relu(input: Tensor, negative_slope: Number = 0.01, inplace: builtins.bool = False) -> Tensor:
    """x above zero, negative_slope * x below."""
def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """leaky_relu, in place."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, for inputs (..., k) and a weight (m, k)."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: builtins.str = 'mean', ignore_index: builtins.int | None = None, label_smoothing: builtins.float = 0.0, options: Any = None) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target, ...); the weight (classes, ..., features) may have further dimensions, which the scores have then."""
def local_response_norm(input: Tensor, size: builtins.int, alpha: builtins.float = 0.0001, beta: builtins.float = 0.75, k: builtins.float = 1.0) -> Tensor:
    """x / (k + alpha * mean of x² over `size` neighbouring channels) ** beta."""
def log_softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: Dtype | None = None) -> Tensor:
    """x - log(sum(exp(x))) along `dim`."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 / (1 + exp(-x))) of each element, for large negative x as well."""
def lp_pool1d(input: Tensor, norm_type: builtins.float, kernel_size: DimOrDims, stride: DimOrDims | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """the norm of each window, sum(x**p) ** (1 / p)."""
def lp_pool2d(input: Tensor, norm_type: builtins.float, kernel_size: DimOrDims, stride: DimOrDims | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """the norm of each window, sum(x**p) ** (1 / p)."""
def lp_pool3d(input: Tensor, norm_type: builtins.float, kernel_size: DimOrDims, stride: DimOrDims | None = None, ceil_mode: builtins.bool = False) -> Tensor:
    """the norm of each window, sum(x**p) ** (1 / p)."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: builtins.float = 0, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """max(0, margin - target * (input1 - input2)): for a target of 1 the first shall be larger by the margin, for -1 the second."""
def max_pool1d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest element of each window; with return_indices, its index as well."""
def max_pool1d_with_indices(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest element of each window, and its index."""
def max_pool2d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest element of each window; with return_indices, its index as well."""
def max_pool2d_with_indices(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest element of each window, and its index."""
def max_pool3d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """the largest element of each window; with return_indices, its index as well."""
def max_pool3d_with_indices(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False, return_indices: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest element of each window, and its index."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, output_size: Sequence[builtins.int] | None = None) -> Tensor:
    """zeros, with the elements that max_pool has found at their places."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, output_size: Sequence[builtins.int] | None = None) -> Tensor:
    """zeros, with the elements that max_pool has found at their places."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = None, padding: DimOrDims = 0, output_size: Sequence[builtins.int] | None = None) -> Tensor:
    """zeros, with the elements that max_pool has found at their places."""
def mish(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x times tanh(softplus(x))."""
def mse_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', weight: Tensor | None = None) -> Tensor:
    """(input - target)**2, its mean, its sum, or itself."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: builtins.int, num_heads: builtins.int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: builtins.bool, dropout_p: builtins.float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: builtins.bool = True, key_padding_mask: Tensor | None = None, need_weights: builtins.bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: builtins.bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: builtins.bool = True, is_causal: builtins.bool = False) -> tuple[Tensor, Tensor | None]:
    """what nn.MultiheadAttention computes, and the weights of the average if `need_weights`. Sequences are (length, batch, features)."""
def multi_margin_loss(input: Tensor, target: Tensor, p: builtins.int = 1, margin: builtins.float = 1.0, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """the mean over all classes i but the right one, y, of weight[y] * max(0, margin - input[y] + input[i])**p."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """the sum over all classes j in the target, which ends with the first -1, and all others, i, of max(0, 1 - input[j] + input[i]), divided by the number of classes."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """the binary cross entropy of each class, and the mean over the classes."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: builtins.bool | None = None, ignore_index: builtins.int = -100, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """-weight[target] * input[target] of log-probabilities `input`; the mean is weighted."""
def normalize(input: Tensor, p: builtins.float = 2.0, dim: builtins.int = 1, eps: builtins.float = 1e-12, out: Tensor | None = None) -> Tensor:
    """vectors along a dimension divided by their p-norm, which counts as eps at least."""
def one_hot(tensor: Tensor, num_classes: builtins.int = -1) -> Tensor:
    """for each index a vector of zeros with a one at that index."""
def pad(input: Tensor, pad: Shape, mode: builtins.str = 'constant', value: builtins.float | None = None) -> Tensor:
    """more elements around the last dimensions, pad = (left, right, top, bottom, ...): `value`, or own elements, with mode 'reflect', 'replicate' or 'circular'."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, eps: builtins.float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """the p-norm of x1 - x2 + eps along the last dimension."""
def pdist(input: Tensor, p: builtins.float = 2) -> Tensor:
    """the distances between each two rows of a matrix."""
def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """channels (..., c * r², h, w) become pixels (..., c, h * r, w * r)."""
def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """pixels (..., c, h * r, w * r) become channels (..., c * r², h, w)."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: builtins.bool = True, full: builtins.bool = False, size_average: builtins.bool | None = None, eps: builtins.float = 1e-08, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """exp(input) - target * input or, of a rate that is not a logarithm, input - target * log(input + eps); `full` adds Stirling's formula."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above zero, weight * x below; one weight for all, or one for each channel."""
def relu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """max(0, x), element by element."""
def relu6(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x, but not below 0 and not above 6."""
def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
def rms_norm(input: Tensor, normalized_shape: Sequence[builtins.int], weight: Tensor | None = None, eps: builtins.float | None = None) -> Tensor:
    """x / sqrt(mean(x**2) + eps) over the last dimensions."""
def rrelu(input: Tensor, lower: Number = 0.125, upper: Number = 0.3333333333333333, training: builtins.bool = False, inplace: builtins.bool = False) -> Tensor:
    """x above zero, x times a random slope below."""
def rrelu_(input: Tensor, lower: Number = 0.125, upper: Number = 0.3333333333333333, training: builtins.bool = False) -> Tensor:
    """rrelu, in place."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: builtins.float = 0.0, is_causal: builtins.bool = False, *, scale: builtins.float | None = None, enable_gqa: builtins.bool = False) -> Tensor:
    """softmax(scale * query @ keyᵀ + mask) @ value, with scale = 1 / sqrt(the numbers of a query). A bool mask tells which keys count; with `is_causal`, no key after a query's own place does."""
def selu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """elu with two constants that keep mean and variance through layers."""
def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def silu(input: Tensor, inplace: builtins.bool = False) -> Tensor:
    """x times sigmoid(x)."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean', beta: builtins.float = 1.0) -> Tensor:
    """|input - target|, with the corner below beta replaced by a parabola; its mean, its sum, or itself."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """log(1 + exp(-target * input)) for targets 1 and -1."""
def softmax(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: Dtype | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
def softmin(input: Tensor, dim: builtins.int | None = None, _stacklevel: builtins.int = 3, dtype: Dtype | None = None) -> Tensor:
    """the softmax of -input along `dim`."""
def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""
def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """each element moved towards zero by lambd, at most to zero."""
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|) of each element."""
def tanh(input: Tensor) -> Tensor:
    """the hyperbolic tangent of each element."""
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x) of each element."""
def threshold(input: Tensor, threshold: Number, value: Number, inplace: builtins.bool = False) -> Tensor:
    """x above the threshold, `value` elsewhere."""
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """threshold, in place."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: builtins.float = 1.0, p: builtins.float = 2, eps: builtins.float = 1e-06, swap: builtins.bool = False, size_average: builtins.bool | None = None, reduce: builtins.bool | None = None, reduction: builtins.str = 'mean') -> Tensor:
    """max(0, margin + |anchor - positive| - |anchor - negative|) in the p-norm; with `swap` the negative may be nearer to the positive."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = None, margin: builtins.float = 1.0, swap: builtins.bool = False, reduction: builtins.str = 'mean') -> Tensor:
    """triplet_margin_loss with any distance."""
def unfold(input: Tensor, kernel_size: DimOrDims, dilation: DimOrDims = 1, padding: DimOrDims = 0, stride: DimOrDims = 1) -> Tensor:
    """the windows of an input (n, c, height, width) as columns (n, c * window, positions)."""
def upsample(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None, mode: builtins.str = 'nearest', align_corners: builtins.bool | None = None) -> Tensor:
    """interpolate, which replaces it."""
def upsample_bilinear(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None) -> Tensor:
    """interpolate with mode='bilinear' and align_corners, which replaces it."""
def upsample_nearest(input: Tensor, size: DimOrDims | None = None, scale_factor: Any = None) -> Tensor:
    """interpolate with mode='nearest', which replaces it."""
