"""Pure judgements of evidence, one module per family."""
