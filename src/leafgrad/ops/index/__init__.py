"""Reading and writing some of the elements: indexing, gather and scatter, masks."""
