"""Operations that change the shape: views, joining and splitting, strides.

May import what `ops` may.
"""
