"""From a source sentence to its derivations: phrase table, options, features, search."""
