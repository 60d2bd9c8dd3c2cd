"""Operators that programs define themselves: with a name in `torch.ops`, a schema, kernels, and what they are to
autograd, vmap and autocast. Public as leafgrad/library.py.

    schema.py       what an operator takes and returns: read, printed, checked against arguments
    inference.py    a schema from the annotations of a function
    operators.py    `torch.ops.mylib.sin`: the operators and how a call of one goes
    gradients.py    a call as an autograd.Function: gradients, and many samples at once
    custom_op.py    what `torch.library.custom_op` returns

May import `_core`, `_device`, `_dtypes`, `amp`, `autograd`, `errors`, `func` and `ops`.
"""
