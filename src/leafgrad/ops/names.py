# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

"""Which module has a function of `leafgrad`, or a method of Tensor: it is imported when one is first used."""

# fmt: off
FUNCTIONS: dict[str, str] = {
    "_tensor.methods": (
        "allclose can_cast equal is_complex is_floating_point is_inference is_nonzero is_same_size is_signed "
        "is_tensor isclose numel positive promote_types result_type "
    ),
    "_tensor.rare_methods": "from_file",
    "ops.conv.blocks": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "ops.conv.convolution": "convolution",
    "ops.conv.grids": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    "ops.conv.layers": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    "ops.conv.padding": "constant_pad_nd",
    "ops.conv.pools": (
        "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool1d_with_indices max_pool2d "
        "max_pool3d "
    ),
    "ops.conv.time_first": "conv_tbc",
    "ops.creation.factories": (
        "empty empty_like empty_strided full full_like ones ones_like scalar_tensor zeros zeros_like "
    ),
    "ops.creation.from_data": "as_tensor asarray from_dlpack from_numpy frombuffer tensor",
    "ops.creation.legacy": (
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor "
        "ShortTensor "
    ),
    "ops.creation.ranges": "arange eye linspace logspace range tril_indices triu_indices",
    "ops.creation.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "ops.fourier.short_time": "istft stft",
    "ops.index.bags": "embedding_bag",
    "ops.index.embedding": "embedding",
    "ops.index.gather": "gather index_select take take_along_dim",
    "ops.index.getitem": "index_put index_put_",
    "ops.index.masks": "argwhere masked_fill masked_scatter masked_select nonzero nonzero_static tril triu",
    "ops.index.scatter": "index_add index_copy index_fill put scatter scatter_add",
    "ops.index.scatter_reduce": "index_reduce scatter_reduce",
    "ops.index.segments": "_segment_reduce segment_reduce",
    "ops.index.slices": "narrow select select_scatter slice_scatter",
    "ops.index.unravel": "unravel_index",
    "ops.linalg.added_products": "addbmm addmv addmv_ addr baddbmm cross inner kron tensordot",
    "ops.linalg.affine": "addmm",
    "ops.linalg.bilinear": "bilinear",
    "ops.linalg.cholesky": "cholesky",
    "ops.linalg.distances": "cdist dist pdist renorm",
    "ops.linalg.einsum": "einsum",
    "ops.linalg.least_squares": "pinverse",
    "ops.linalg.lobpcg": "lobpcg",
    "ops.linalg.low_rank": "pca_lowrank svd_lowrank",
    "ops.linalg.lu": "lu lu_solve lu_unpack",
    "ops.linalg.matrix_norms": "norm",
    "ops.linalg.powers": "chain_matmul matrix_exp matrix_power",
    "ops.linalg.products": "adjoint bmm dot ger matmul mm mv outer vdot",
    "ops.linalg.qr": "geqrf orgqr ormqr qr",
    "ops.linalg.removed": "eig lstsq matrix_rank solve symeig",
    "ops.linalg.solving": "det inverse logdet slogdet",
    "ops.linalg.spectra": "svd",
    "ops.linalg.triangular": "cholesky_inverse cholesky_solve triangular_solve",
    "ops.normalization.batch_norm": "batch_norm instance_norm native_batch_norm",
    "ops.normalization.layer_norm": "group_norm layer_norm native_group_norm native_layer_norm rms_norm",
    "ops.pointwise.activations": "celu celu_ hardshrink selu selu_ threshold threshold_",
    "ops.pointwise.angles": "angle arctan2 atan2 hypot",
    "ops.pointwise.bessel": "i0 i0_",
    "ops.pointwise.comparison": (
        "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor eq ge greater "
        "greater_equal gt isfinite isinf isnan isneginf isposinf isreal le less less_equal logical_and "
        "logical_not logical_or logical_xor lt ne not_equal signbit "
    ),
    "ops.pointwise.complex": (
        "complex conj_physical conj_physical_ is_conj is_neg polar resolve_conj resolve_neg view_as_complex "
        "view_as_real "
    ),
    "ops.pointwise.convert": "clone conj detach imag real",
    "ops.pointwise.division": (
        "ceil ceil_ div divide fix fix_ floor floor_ floor_divide fmod frac frac_ remainder round round_ rsub "
        "true_divide trunc trunc_ "
    ),
    "ops.pointwise.elementwise": (
        "abs abs_ absolute absolute_ add cos cos_ exp exp_ log log_ mul multiply neg neg_ negative negative_ "
        "reciprocal reciprocal_ rsqrt rsqrt_ sgn sigmoid sigmoid_ sign sin sin_ sqrt sqrt_ sub subtract tanh "
        "tanh_ "
    ),
    "ops.pointwise.error_function": "erf erf_ erfc erfc_ erfinv",
    "ops.pointwise.exponentials": (
        "exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_ log2 log2_ logaddexp logaddexp2 logit logit_ xlogy "
        "xlogy_ "
    ),
    "ops.pointwise.fill": "fill fill_ zero_",
    "ops.pointwise.floating": "copysign frexp heaviside ldexp ldexp_ nextafter",
    "ops.pointwise.foreach": (
        "_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add _foreach_add_ _foreach_addcdiv "
        "_foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin _foreach_asin_ _foreach_atan "
        "_foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min "
        "_foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh "
        "_foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ "
        "_foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac "
        "_foreach_frac_ _foreach_lerp _foreach_lerp_ _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 "
        "_foreach_log10_ _foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max "
        "_foreach_maximum _foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul "
        "_foreach_mul_ _foreach_neg _foreach_neg_ _foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum "
        "_foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_ _foreach_rsqrt _foreach_rsqrt_ "
        "_foreach_sigmoid _foreach_sigmoid_ _foreach_sign _foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh "
        "_foreach_sinh_ _foreach_sqrt _foreach_sqrt_ _foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ "
        "_foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_ "
    ),
    "ops.pointwise.gamma": "digamma igamma igammac lgamma mvlgamma polygamma",
    "ops.pointwise.gates": "prelu rrelu rrelu_",
    "ops.pointwise.integers": "gcd gcd_ lcm lcm_",
    "ops.pointwise.powers": "float_power pow square square_",
    "ops.pointwise.relu": "relu relu_",
    "ops.pointwise.select": (
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fmax fmin maximum minimum nan_to_num "
        "nan_to_num_ "
    ),
    "ops.pointwise.ternary": "addcdiv addcmul lerp",
    "ops.pointwise.trigonometric": (
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan_ "
        "arctanh arctanh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ cosh cosh_ deg2rad deg2rad_ rad2deg "
        "rad2deg_ sinc sinc_ sinh sinh_ tan tan_ "
    ),
    "ops.pointwise.where": "where",
    "ops.private_functions": (
        "_chunk_cat _native_batch_norm_legit _safe_softmax _softmax_backward_data _unsafe_masked_index "
        "_unsafe_masked_index_put_accumulate empty_permuted frobenius_norm native_dropout norm_except_dim "
        "nuclear_norm "
    ),
    "ops.random.by_rejection": (
        "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial poisson "
    ),
    "ops.random.dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ "
        "feature_dropout feature_dropout_ "
    ),
    "ops.random.functions": (
        "bernoulli multinomial normal rand rand_like randint randint_like randn randn_like randperm "
    ),
    "ops.recurrent.cells": "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell",
    "ops.recurrent.layers": "gru lstm rnn_relu rnn_tanh",
    "ops.reduce.binning": "bincount bucketize histc histogram searchsorted",
    "ops.reduce.differences": "corrcoef cov cumulative_trapezoid diff gradient trapezoid trapz",
    "ops.reduce.distances": "cosine_similarity pairwise_distance",
    "ops.reduce.distinct": "hash_tensor isin unique unique_consecutive",
    "ops.reduce.extremes": "amax amin aminmax argmax argmin max min",
    "ops.reduce.histograms": "histogramdd",
    "ops.reduce.medians": "median nanmedian",
    "ops.reduce.ordering": "argsort kthvalue msort sort topk",
    "ops.reduce.products": "prod",
    "ops.reduce.reductions": "all any count_nonzero cumsum mean sum",
    "ops.reduce.running": "cummax cummin logcumsumexp mode nanquantile quantile",
    "ops.reduce.scans": "cumprod",
    "ops.reduce.softmax": "log_softmax logsumexp softmax",
    "ops.reduce.statistics": "nanmean nansum std std_mean var var_mean",
    "ops.shape.arrange": (
        "broadcast_shapes broadcast_tensors broadcast_to flatten flip fliplr flipud moveaxis movedim ravel roll "
        "rot90 swapaxes tile unflatten "
    ),
    "ops.shape.copies": (
        "alias_copy as_strided_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy "
        "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
        "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy "
    ),
    "ops.shape.diagonals": "as_strided_scatter block_diag diag diag_embed diagflat diagonal_scatter trace",
    "ops.shape.grids": "cartesian_prod combinations meshgrid vander",
    "ops.shape.join": (
        "atleast_1d atleast_2d atleast_3d cat column_stack concat concatenate dstack hstack row_stack stack "
        "vstack "
    ),
    "ops.shape.repeat": "repeat_interleave",
    "ops.shape.resize": "resize_as_",
    "ops.shape.split": (
        "chunk diagonal dsplit hsplit split split_with_sizes tensor_split unbind unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit "
    ),
    "ops.shape.storage": "is_storage",
    "ops.shape.strides": "as_strided",
    "ops.shape.views": "permute reshape squeeze swapdims t transpose unsqueeze",
    "ops.sparse.creation": (
        "sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor "
        "sparse_csr_tensor "
    ),
    "ops.sparse.products": "hspmm smm spmm sspaddmm",
}
METHODS: dict[str, str] = {
    "_tensor.conversions": "bfloat16 bool byte cdouble cfloat char double float half int long short to",
    "_tensor.methods": (
        "__pos__ allclose cpu cuda equal is_contiguous is_nonzero is_pinned is_same_size is_set_to isclose "
        "pin_memory positive type type_as "
    ),
    "_tensor.rare_methods": "dim_order module_load xpu",
    "_tensor.shared_memory": "is_shared share_memory_",
    "ops.creation.factories": "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
    "ops.creation.legacy": "new",
    "ops.fourier.short_time": "istft stft",
    "ops.index.gather": "gather index_select take take_along_dim",
    "ops.index.getitem": "__delitem__ __getitem__ __setitem__ index_put index_put_",
    "ops.index.masks": (
        "argwhere masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select nonzero nonzero_static "
        "tril tril_ triu triu_ "
    ),
    "ops.index.scatter": (
        "index_add index_add_ index_copy index_copy_ index_fill index_fill_ put put_ scatter scatter_ scatter_add "
        "scatter_add_ "
    ),
    "ops.index.scatter_reduce": "index_reduce index_reduce_ scatter_reduce scatter_reduce_",
    "ops.index.slices": "narrow select select_scatter slice_scatter",
    "ops.linalg.added_products": "addbmm addbmm_ addmv addmv_ addr addr_ baddbmm baddbmm_ cross inner kron",
    "ops.linalg.affine": "addmm addmm_",
    "ops.linalg.cholesky": "cholesky",
    "ops.linalg.distances": "dist renorm renorm_",
    "ops.linalg.least_squares": "pinverse",
    "ops.linalg.lu": "lu lu_solve",
    "ops.linalg.matrix_norms": "norm",
    "ops.linalg.powers": "matrix_exp matrix_power",
    "ops.linalg.products": "H T __matmul__ __rmatmul__ adjoint bmm dot ger mH mT matmul mm mv outer vdot",
    "ops.linalg.qr": "geqrf orgqr ormqr qr",
    "ops.linalg.removed": "eig lstsq solve symeig",
    "ops.linalg.solving": "det inverse logdet slogdet",
    "ops.linalg.spectra": "svd",
    "ops.linalg.triangular": "cholesky_inverse cholesky_solve triangular_solve",
    "ops.pointwise.activations": "hardshrink",
    "ops.pointwise.angles": "angle arctan2 arctan2_ atan2 atan2_ hypot hypot_",
    "ops.pointwise.bessel": "i0 i0_",
    "ops.pointwise.by_element": "apply_ map2_ map_",
    "ops.pointwise.comparison": (
        "__and__ __eq__ __ge__ __gt__ __iand__ __ilshift__ __invert__ __ior__ __irshift__ __ixor__ __le__ "
        "__lshift__ __lt__ __ne__ __or__ __rand__ __rlshift__ __ror__ __rrshift__ __rshift__ __rxor__ __xor__ "
        "bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or "
        "bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ eq eq_ ge ge_ greater "
        "greater_ greater_equal greater_equal_ gt gt_ isfinite isinf isnan isneginf isposinf isreal le le_ less "
        "less_ less_equal less_equal_ logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ "
        "logical_xor logical_xor_ lt lt_ ne ne_ not_equal not_equal_ signbit "
    ),
    "ops.pointwise.complex": "conj_physical conj_physical_ is_conj is_neg resolve_conj resolve_neg",
    "ops.pointwise.convert": "clone conj contiguous detach imag real",
    "ops.pointwise.division": (
        "__div__ __floordiv__ __idiv__ __ifloordiv__ __imod__ __itruediv__ __mod__ __rdiv__ __rfloordiv__ "
        "__rmod__ __rsub__ __rtruediv__ ceil ceil_ div div_ divide divide_ fix fix_ floor floor_ floor_divide "
        "floor_divide_ fmod fmod_ frac frac_ remainder remainder_ round round_ true_divide true_divide_ trunc "
        "trunc_ "
    ),
    "ops.pointwise.elementwise": (
        "__abs__ __iadd__ __imul__ __isub__ abs abs_ absolute absolute_ add add_ cos cos_ exp exp_ log log_ mul "
        "mul_ multiply multiply_ neg neg_ negative negative_ reciprocal reciprocal_ rsqrt rsqrt_ sgn sgn_ sigmoid "
        "sigmoid_ sign sign_ sin sin_ sqrt sqrt_ sub sub_ subtract subtract_ tanh tanh_ "
    ),
    "ops.pointwise.error_function": "erf erf_ erfc erfc_ erfinv erfinv_",
    "ops.pointwise.exponentials": (
        "exp2 exp2_ expm1 expm1_ log10 log10_ log1p log1p_ log2 log2_ logaddexp logaddexp2 logit logit_ xlogy "
        "xlogy_ "
    ),
    "ops.pointwise.fill": "copy_ fill_ zero_",
    "ops.pointwise.floating": "copysign copysign_ frexp heaviside heaviside_ ldexp ldexp_ nextafter nextafter_",
    "ops.pointwise.gamma": (
        "digamma digamma_ igamma igamma_ igammac igammac_ lgamma lgamma_ mvlgamma mvlgamma_ polygamma polygamma_ "
    ),
    "ops.pointwise.gates": "prelu",
    "ops.pointwise.integers": "gcd gcd_ lcm lcm_",
    "ops.pointwise.powers": "__ipow__ __pow__ __rpow__ float_power float_power_ pow pow_ square square_",
    "ops.pointwise.relu": "relu relu_",
    "ops.pointwise.select": (
        "clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ fmax fmin maximum minimum nan_to_num "
        "nan_to_num_ "
    ),
    "ops.pointwise.ternary": "addcdiv addcdiv_ addcmul addcmul_ lerp lerp_",
    "ops.pointwise.trigonometric": (
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan_ "
        "arctanh arctanh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ cosh cosh_ deg2rad deg2rad_ rad2deg "
        "rad2deg_ sinc sinc_ sinh sinh_ tan tan_ "
    ),
    "ops.pointwise.where": "where",
    "ops.random.functions": (
        "bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal_ random_ uniform_ "
    ),
    "ops.reduce.binning": "bincount histc histogram",
    "ops.reduce.differences": "corrcoef cov diff",
    "ops.reduce.distinct": "hash_tensor unique unique_consecutive",
    "ops.reduce.extremes": "amax amin aminmax argmax argmin max min",
    "ops.reduce.medians": "median nanmedian",
    "ops.reduce.ordering": "argsort kthvalue msort sort topk",
    "ops.reduce.products": "prod",
    "ops.reduce.reductions": "all any count_nonzero cumsum cumsum_ mean sum sum_to_size",
    "ops.reduce.running": "cummax cummin logcumsumexp mode nanquantile quantile",
    "ops.reduce.scans": "cumprod cumprod_",
    "ops.reduce.softmax": "log_softmax logsumexp softmax",
    "ops.reduce.statistics": "nanmean nansum std var",
    "ops.shape.arrange": (
        "broadcast_to expand_as flatten flip fliplr flipud moveaxis movedim ravel repeat reshape_as roll rot90 "
        "swapaxes tile unflatten view_as "
    ),
    "ops.shape.copies": "narrow_copy",
    "ops.shape.diagonals": "as_strided_scatter diag diag_embed diagflat diagonal_scatter fill_diagonal_ trace",
    "ops.shape.repeat": "repeat_interleave",
    "ops.shape.resize": "as_strided_ resize_ resize_as_ set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
    "ops.shape.split": (
        "chunk diagonal dsplit hsplit split split_with_sizes tensor_split unbind unsafe_chunk unsafe_split "
        "unsafe_split_with_sizes vsplit "
    ),
    "ops.shape.storage": "_typed_storage storage storage_type untyped_storage",
    "ops.shape.strides": "as_strided",
    "ops.shape.views": "expand permute reshape squeeze swapdims t transpose unsqueeze view",
    "ops.shape.windows": "unfold",
    "ops.sparse.methods": (
        "_coalesced_ _dimI _dimV _indices _nnz _values ccol_indices coalesce col_indices crow_indices dense_dim "
        "indices is_coalesced resize_as_sparse_ row_indices sparse_dim sparse_mask sparse_resize_ "
        "sparse_resize_and_clear_ to_dense to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc "
        "to_sparse_csr values "
    ),
    "ops.sparse.products": "smm sspaddmm",
}
OTHERS = (  # the modules without methods
    "ops.conv.avg_pooling ops.conv.axis_maps ops.conv.blocks ops.conv.convolution ops.conv.grids "
    "ops.conv.layers ops.conv.max_pooling ops.conv.padding ops.conv.pools ops.conv.resampling "
    "ops.conv.time_first ops.creation.fresh ops.creation.from_data ops.creation.ranges "
    "ops.creation.signal_windows ops.creation.windows ops.fourier.functions ops.fourier.transforms "
    "ops.index.bags ops.index.embedding ops.index.segments ops.index.unravel ops.inplace ops.linalg.bilinear "
    "ops.linalg.eigenvalues ops.linalg.einsum ops.linalg.ldl ops.linalg.lobpcg ops.linalg.low_rank "
    "ops.loss.binary ops.loss.cross_entropy ops.loss.ctc ops.loss.elementwise ops.normalization.batch_norm "
    "ops.normalization.layer_norm ops.pointwise.foreach ops.pointwise.polynomials ops.private_functions "
    "ops.random.by_rejection ops.random.drawing ops.random.dropout ops.recurrent.cells ops.recurrent.layers "
    "ops.recurrent.packing ops.recurrent.sequences ops.reduce.distances ops.reduce.histograms "
    "ops.reduce.masked ops.reduce.norms ops.shape.grids ops.shape.join ops.shape.view_history "
    "ops.sparse.blocks ops.sparse.creation ops.sparse.rows "
)
PLACES: dict[str, dict[str, str]] = {  # the same for namespaces
    "fft": {
        "ops.fourier.functions": (
            "fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft "
            "irfft2 irfftn rfft rfft2 rfftfreq rfftn "
        ),
    },
    "linalg": {
        "ops.linalg.added_products": "cross diagonal vander vecdot",
        "ops.linalg.cholesky": "cholesky cholesky_ex",
        "ops.linalg.eigenvalues": "eig eigvals",
        "ops.linalg.ldl": "ldl_factor ldl_factor_ex ldl_solve",
        "ops.linalg.least_squares": "lstsq matrix_rank pinv",
        "ops.linalg.lu": "lu lu_factor lu_factor_ex lu_solve",
        "ops.linalg.matrix_norms": "cond matrix_norm norm",
        "ops.linalg.powers": "matrix_exp matrix_power multi_dot tensorinv tensorsolve",
        "ops.linalg.products": "matmul",
        "ops.linalg.qr": "householder_product qr",
        "ops.linalg.solving": "det inv inv_ex slogdet solve solve_ex",
        "ops.linalg.spectra": "eigh eigvalsh svd svdvals",
        "ops.linalg.triangular": "solve_triangular",
        "ops.reduce.norms": "vector_norm",
    },
    "masked": {
        "ops.reduce.masked": (
            "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod "
            "softmax softmin std sum var "
        ),
    },
    "nn": {
        "nn.modules.activation": (
            "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU "
            "RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh "
            "Tanhshrink Threshold "
        ),
        "nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
        "nn.modules.attention": "MultiheadAttention",
        "nn.modules.batchnorm": (
            "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm "
        ),
        "nn.modules.channelshuffle": "ChannelShuffle",
        "nn.modules.container": "Container DataParallel ModuleDict ModuleList Sequential",
        "nn.modules.conv": (
            "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d "
            "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d "
        ),
        "nn.modules.distance": "CosineSimilarity PairwiseDistance",
        "nn.modules.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
        "nn.modules.flatten": "Flatten Unflatten",
        "nn.modules.fold": "Fold Unfold",
        "nn.modules.instancenorm": (
            "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d "
        ),
        "nn.modules.linear": "Bilinear Identity LazyLinear Linear",
        "nn.modules.linear_cross_entropy": "LinearCrossEntropyLoss LinearCrossEntropyOptions",
        "nn.modules.loss": (
            "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
            "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss "
            "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
            "TripletMarginLoss TripletMarginWithDistanceLoss "
        ),
        "nn.modules.module": "Module",
        "nn.modules.normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm",
        "nn.modules.padding": (
            "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
            "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d "
            "ZeroPad3d "
        ),
        "nn.modules.parameter_container": "ParameterDict ParameterList",
        "nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
        "nn.modules.pooling": (
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
            "AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d "
            "LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d "
        ),
        "nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
        "nn.modules.sparse": "Embedding EmbeddingBag",
        "nn.modules.transformer": (
            "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer "
        ),
        "nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    },
    "nn.functional": {
        "ops.conv.blocks": "channel_shuffle pixel_shuffle pixel_unshuffle",
        "ops.conv.layers": "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
        "ops.conv.pools": "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d",
        "ops.conv.time_first": "conv_tbc",
        "ops.linalg.bilinear": "bilinear",
        "ops.linalg.distances": "pdist",
        "ops.loss.binary": "logsigmoid",
        "ops.pointwise.activations": "gelu hardshrink softplus softshrink",
        "ops.pointwise.gates": "prelu",
        "ops.reduce.distances": "cosine_similarity pairwise_distance",
        "nn._functional.activation": (
            "celu celu_ elu elu_ glu gumbel_softmax hardsigmoid hardswish hardtanh hardtanh_ leaky_relu leaky_relu_ "
            "log_softmax mish normalize relu relu6 relu_ rrelu rrelu_ selu selu_ sigmoid silu softmax softmin "
            "softsign tanh tanhshrink threshold threshold_ "
        ),
        "nn._functional.attention": "scaled_dot_product_attention",
        "nn._functional.dropout": "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout",
        "nn._functional.embedding": "embedding embedding_bag",
        "nn._functional.likelihood_loss": "ctc_loss gaussian_nll_loss kl_div poisson_nll_loss",
        "nn._functional.linear": "linear one_hot",
        "nn._functional.loss": (
            "binary_cross_entropy binary_cross_entropy_with_logits cross_entropy huber_loss l1_loss "
            "linear_cross_entropy mse_loss nll_loss smooth_l1_loss "
        ),
        "nn._functional.margin_loss": (
            "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss multilabel_margin_loss "
            "multilabel_soft_margin_loss soft_margin_loss triplet_margin_loss triplet_margin_with_distance_loss "
        ),
        "nn._functional.multi_head_attention": "multi_head_attention_forward",
        "nn._functional.normalization": "batch_norm group_norm instance_norm layer_norm normalize rms_norm",
        "nn._functional.padding": "pad",
        "nn._functional.pooling": (
            "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices "
            "adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d "
            "adaptive_max_pool3d_with_indices fractional_max_pool2d fractional_max_pool2d_with_indices "
            "fractional_max_pool3d fractional_max_pool3d_with_indices lp_pool1d lp_pool2d lp_pool3d max_pool1d "
            "max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices "
            "max_unpool1d max_unpool2d max_unpool3d "
        ),
        "nn._functional.vision": (
            "affine_grid fold grid_sample interpolate local_response_norm unfold upsample upsample_bilinear "
            "upsample_nearest "
        ),
    },
    "signal.windows": {
        "ops.creation.signal_windows": (
            "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall "
        ),
    },
    "special": {
        "ops.pointwise.bessel": (
            "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0 i0e i1 i1e modified_bessel_i0 modified_bessel_i1 "
            "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
            "spherical_bessel_j0 "
        ),
        "ops.pointwise.division": "round",
        "ops.pointwise.elementwise": "expit",
        "ops.pointwise.error_function": "erf erfc erfcx erfinv log_ndtr ndtr ndtri",
        "ops.pointwise.exponentials": "entr exp2 expm1 log1p logit xlog1py xlogy",
        "ops.pointwise.gamma": "digamma gammainc gammaincc gammaln multigammaln polygamma psi zeta",
        "ops.pointwise.polynomials": (
            "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
            "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
            "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
            "shifted_chebyshev_polynomial_w "
        ),
        "ops.pointwise.trigonometric": "sinc",
        "ops.reduce.softmax": "log_softmax logsumexp softmax",
    },
}
ABSENT = (  # methods of PyTorch's tensors
    "chalf dequantize index int_repr ipu is_distributed mtia q_per_channel_axis q_per_channel_scales "
    "q_per_channel_zero_points q_scale q_zero_point qscheme record_stream reinforce resize resize_as "
    "slice_inverse to_mkldnn to_padded_tensor "
)
ATTRIBUTES = ('H', 'T', 'imag', 'mH', 'mT', 'real')  # of METHODS, those that are no methods
