"""The functions of `leafgrad.nn.functional`, in files by subject: each belongs to it with all that its `__all__` lists.
Operations that need nothing around them say in their own blocks that they are there (`places`).

May import what `nn` may.
"""
