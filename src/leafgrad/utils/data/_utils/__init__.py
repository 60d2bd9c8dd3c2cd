"""leafgrad.utils.data._utils: what a loader does with samples: it fetches them, makes batches, has workers send them.

May import `leafgrad`, `random` (Python's), `_core` and `errors`.
"""
