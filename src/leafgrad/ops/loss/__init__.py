"""Loss functions. Registered with `leafgrad.nn.functional`, so that `import leafgrad` does not load them.

May import what `ops` may.
"""
