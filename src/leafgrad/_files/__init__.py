"""leafgrad._files: what `save` and `load` do. `archive` is the container (a zip file with aligned records), `atomic`
puts files in their place, `pickling` writes objects under PyTorch's names, `restricted` reads them without running
anything, `unrestricted` reads them with Python's own pickle, `rebuilding` makes tensors of memory, `locations` says on
which device, and `reading` and `writing` put it together.

May import `_core`, `ops`, `_tensor`, `nn`, `errors`, `_dtypes`, `_layouts`, `_device` and `_torch_places`.
"""
