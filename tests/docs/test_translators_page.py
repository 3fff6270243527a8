"""docs/translators.md: its command for the server runs, and does what the page says."""

import json
import shlex
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests import ROOT
from tests.documents import blocks
from tests.server.conftest import raw_toy
from tests.server.running import running, wait_until

__all__ = ["raw_toy"]  # a fixture
FILES = ("model", "corrections", "project/omegat/project_save.tmx", "team.tmx")
MEMORY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx11.dtd">
<tmx version="1.1">
  <header creationtool="OmegaT" o-tmf="OmegaT TMX" adminlang="EN-US" datatype="plaintext"
    creationtoolversion="6.0.1" segtype="sentence" srclang="de"/>
  <body>
    <tu>
      <tuv lang="de"><seg>{source}</seg></tuv>
      <tuv lang="en" changeid="me" changedate="20261129T080000Z"><seg>{translation}</seg></tuv>
    </tu>
  </body>
</tmx>
"""


def test_the_command_for_omegat(raw_toy, tmp_path):
    (command,) = blocks(ROOT / "docs" / "translators.md", "sh")
    _, name, *options = shlex.split(command.replace("\\\n", ""))
    assert name == "serve"
    (tmp_path / "model").symlink_to(raw_toy)
    (tmp_path / "project" / "omegat").mkdir(parents=True)
    (tmp_path / FILES[2]).write_text(MEMORY.format(source="A b x.", translation="S t neu."), encoding="utf-8")
    (tmp_path / FILES[3]).write_text(MEMORY.format(source="C d y.", translation="V w team."), encoding="utf-8")
    with running(*(_below(tmp_path, option) for option in options)) as server:

        def asked(path, body=None, **query):
            data = None if body is None else json.dumps(body).encode()
            url = f"{server.url}{path}?{urlencode(query)}"
            with urlopen(Request(url, data, {"Content-Type": "application/json"})) as answer:
                return json.load(answer)

        wait_until(lambda: asked("/v1/segments", project="manual")["total"] == 1)
        for source, expected in (("A b x.", "S t neu."), ("C d y.", "V w team.")):
            body = {"q": source, "source": "de", "target": "en"}
            assert asked("/translate", body)["translatedText"] == expected
        server.stop()


def _below(folder, option):
    """An option of the command with its files in `folder`."""
    before, is_named, path = option.rpartition("=")
    return f"{before}{is_named}{folder / path}" if path in FILES else option
