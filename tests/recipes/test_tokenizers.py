"""Recipes of ARCHITECTURE.md: tokenizers."""

import yaml

LETTERS = '''"""The tokenizer `letters`: a token for each letter."""


class LetterTokenizer:
    """Letters, and _ for each space."""

    def tokens(self, line):
        return list("_".join(line.split()))

    def text(self, tokens):
        return "".join(tokens).replace("_", " ")
'''


def test_a_tokenizer(copy, data, tmp_path):
    copy.write("decoder/tokenizers/letters.py", LETTERS)
    settings, registry = "decoder/input/raw_text_settings.py", "decoder/tokenizers/registry.py"
    copy.list(settings, 'Literal["moses", ', 'Literal["letters", "moses", ')
    line = "from phrasebeam.decoder.tokenizers.moses import MosesTokenizer\n"
    copy.replace(registry, line, "from phrasebeam.decoder.tokenizers.letters import LetterTokenizer\n" + line)
    copy.replace(
        registry,
        '    "characters": ',
        '    "letters": TokenizerKind(lambda *_: LetterTokenizer()),\n    "characters": ',
    )
    for side in ("source", "target"):
        (tmp_path / side).write_text("a bc\nbc a\na a\n" * 5)
    files = [part for side in ("source", "target") for part in (f"--{side}", tmp_path / side)]
    config = tmp_path / "settings.yaml"
    raw = {"source_language": "aa", "target_language": "bb", "target_tokenizer": "letters", "casing": "keep"}
    config.write_text(yaml.safe_dump({"language_model": {"order": 2}, "threads": 1, "preprocessing": raw}))
    copy.run("train-model", *files, "--no-clean", "--config", config, "--output", tmp_path / "model")
    assert set((tmp_path / "model" / "target.vocab").read_text().split()) >= {"a", "b", "c", "_"}
    assert "a" in copy.run("translate", "--raw", "--model", tmp_path / "model", text="a\n")
