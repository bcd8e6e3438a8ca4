"""Evidence on pictures that people made: see `benchmarks.real.__main__`."""
