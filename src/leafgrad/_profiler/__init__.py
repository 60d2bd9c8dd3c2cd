"""How the profiler listens: the public face is `leafgrad.profiler` and `leafgrad.autograd.profiler`.

May import `_core`, `ops`, `autograd`, `_tensor` and `nn`. Only the public faces import it, so that a program which is
not profiled never loads it.
"""
