"""Operations over dimensions: sums, extremes, statistics, norms, sorting, softmax."""
