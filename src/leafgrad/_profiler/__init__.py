"""How the profiler listens: the public face is `leafgrad.profiler` and `leafgrad.autograd.profiler`."""
