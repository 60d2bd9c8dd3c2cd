"""Loss functions. Registered with `leafgrad.nn.functional`, so that `import leafgrad` need not wait for them.

May import what `ops` may.
"""
