package main

// guide is the text of the PDF, in ASCII, which the standard fonts of PDF have.
const guide = `
# Tessera 2.3: numerics guide
This guide tells what the reference leaves out: how types are combined, when results repeat bit by bit, and what changed between versions.
## Type promotion
Operands of one category, whole numbers or floating point, are promoted to the wider type. A tensor and a Python number of the same category keep the tensor's type: int8 plus 1 stays int8 and may wrap around.
A whole-number tensor and a floating-point scalar give the default floating-point type. float16 and bfloat16 meet in float32, since neither holds the other's range and precision.
A tensor of no dimensions counts as a scalar for promotion. Call promote_types to see the result without computing it.
## Reduced precision
float16 has eleven significant bits and overflows above 65504. bfloat16 has eight bits and the range of float32, so it needs no loss scaling. Matrix products in tf32 read ten bits of the mantissa and add up in float32; set_precision('highest') turns this off.
A sum of half-precision numbers is kept in float32 until it is stored. Running totals longer than 4096 elements are split into blocks whose sums are added pairwise.
## Determinism
With set_deterministic(True), the same seed, the same version and the same device model, results are equal bit by bit. Between device models they are not, because reductions are divided among a different number of units.
scatter_add, the backward pass of Embedding and interpolation in bilinear mode have slow deterministic kernels. The backward pass of adaptive_pool3d has none and raises RuntimeError.
The environment variable TESSERA_WORKSPACE=:4096:8 must be set before the process starts, or matrix products on accelerators may choose another algorithm under memory pressure.
## Memory formats
Row-major is the default. Channels-last keeps the channels of a pixel together and makes convolutions on recent accelerators up to 1.6 times faster. An operation keeps the format of its first argument; Tensor.view cannot merge dimensions across a channels-last boundary.
## Error bounds
Elementary functions are within one unit in the last place in float32 and within two in float64. Products of matrices are bounded by the inner length times machine epsilon times the product of the norms.
The iterative eigh stops at a residual of 1e-6 in float32 or after 60 sweeps, whichever comes first, and warns in the second case.
# Changes between versions
## From 2.2 to 2.3
matmul has the keyword precision; the global switch allow_tf32 is deprecated and goes away in 3.0. DataLoader starts workers by spawn on every platform. load refuses pickled objects unless weights_only is False.
## From 2.1 to 2.2
The default of random_split is a generator of its own, seeded from the default one, so splits made after manual_seed differ from those of 2.1. std has correction in place of unbiased.
## From 2.0 to 2.1
argmax returns the first of several equal values on every device; before, accelerators returned any. Wheels for macOS on Intel are no longer built.
## Support
A minor version gets fixes for twelve months after the next one appears. Saved files can be read by all later versions with the same major number; files of 1.x are converted by the tool tessera-migrate.
`
