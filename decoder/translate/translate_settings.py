"""What a configuration file of `translate` may say."""

from pydantic import (
    Field,
)

from phrasebeam.base.config import Bytes, Section
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import Reading
from phrasebeam.decoder.output.mbr import Mbr
from phrasebeam.decoder.search.search_settings import Search


class Decoding(Section):
    """What a configuration file for `translate` may say."""

    search: Search = Search()
    weights: Weights | None = None
    mbr: Mbr | None = None
    input: Reading = Reading()
    memory: Bytes = Field(2 * 2**30, ge=64 * 2**20, description="bytes beyond which mapped files are let go of")
