"""Making tensors: from data, of a shape, in a range."""
