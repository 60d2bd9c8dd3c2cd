"""The public class `Tensor`: its own methods, the operations that are put on it, how it prints. Imports `ops` and
`autograd`."""
