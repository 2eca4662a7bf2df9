"""The only code that imports docc: compiler, parse, nests, fingerprint, apply, compile, run."""
