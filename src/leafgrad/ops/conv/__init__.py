"""Operations on images, sounds and volumes: convolution, pooling, padding, resampling.

May import what `ops` may.
"""
