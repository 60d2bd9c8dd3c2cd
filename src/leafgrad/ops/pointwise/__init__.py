"""Operations that work element by element.

May import what `ops` may.
"""
