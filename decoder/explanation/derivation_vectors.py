"""Feature vectors of many derivations of a sentence at once, such as all beginnings of one."""

from collections.abc import Sequence

import numpy as np

from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.derivation_view import DerivationView


def vectors(view: DerivationView, derivations: Sequence[Derivation], is_complete: bool = True) -> np.ndarray:
    """float64[N, F] features of N derivations, computed from these alone; </s> follows if they are complete."""
    matrix = np.zeros((len(derivations), view.features.size))
    if derivations:
        offsets = np.cumsum([0, *(one.pair.size for one in derivations)])
        view.fill_features(joined(derivations), offsets, matrix, is_complete)
    return matrix


def joined(derivations: Sequence[Derivation]) -> Derivation:
    """The phrases of all of them, one behind the other."""
    return Derivation(*(np.concatenate(field) for field in zip(*derivations)))


def added_by_phrase(view: DerivationView, derivation: Derivation) -> np.ndarray:
    """float64[K, F], what each of the K phrases of a complete derivation adds to its features where it stands.

    That is the difference between the beginnings with and without it, so the rows add up to the features of the whole.
    How a phrase lies to the next one counts there; </s> counts for the last one.
    """
    beginnings = [_beginning(derivation, n) for n in range(1, derivation.pair.size)]
    whole = vectors(view, [derivation])
    return np.diff(np.concatenate([vectors(view, beginnings, False), whole]), axis=0, prepend=0.0)


def _beginning(derivation: Derivation, n_phrases: int) -> Derivation:
    return Derivation(*(field[:n_phrases] for field in derivation))
