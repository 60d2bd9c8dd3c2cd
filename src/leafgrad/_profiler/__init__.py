"""What a profile sees and writes down: the public face is `leafgrad.profiler` and `leafgrad.autograd.profiler`.

May import `_core`, `ops` and `autograd`. Only the public faces import it, so that a program which is not profiled never
loads it.
"""
