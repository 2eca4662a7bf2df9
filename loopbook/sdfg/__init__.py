"""The only code that imports docc: compiler lookup, parse, nests, fingerprint, apply, compile, run."""
