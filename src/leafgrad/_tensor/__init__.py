"""The public class `Tensor`: its own methods, the operations that are put on it, how it prints.

May import `_core`, `ops`, `autograd`, `errors`, `_dtypes`, `_device` and `_layouts`.
"""
