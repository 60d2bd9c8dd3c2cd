"""Operations that change the shape: views, joining and splitting, strides."""
