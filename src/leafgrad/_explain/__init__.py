"""What leafgrad says of a program's gradients: which leaves a loss reaches and why not the others (`explanation.py`),
why a `.grad` is what it is (`why.py`), pictures and reports. The functions are public as `leafgrad.explain`,
`leafgrad.why` and so on; this package is loaded when the first of them is asked for.

May import `leafgrad`, `_core`, `ops`, `autograd`, `_tensor`, `nn`, `optim`, `errors`, `random`, `_dtypes`, `_device`
and `_settings`. Nothing of leafgrad imports it but the command line.
"""
