"""What stands beside the package for those who use it elsewhere: an image of a server, a citation."""

import json
import tomllib

import yaml
from dockerfile_parse import DockerfileParser

from phrasebeam.cli import COMMANDS
from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTRUCTIONS = {"FROM", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD", "COMMENT"}


def test_the_image_of_a_server_has_what_serve_needs():
    parser = DockerfileParser(fileobj=open(ROOT / "Dockerfile", "rb"))
    steps = [(step["instruction"], step["value"]) for step in parser.structure]
    assert {instruction for instruction, _ in steps} <= INSTRUCTIONS
    assert parser.baseimage.startswith("python:3.")
    installed = next(value for instruction, value in steps if instruction == "RUN" and "pip install" in value)
    extras = installed.partition("[")[2].partition("]")[0].split(",")
    assert "server" in extras and {*extras} <= {*PROJECT["optional-dependencies"]}
    for instruction, value in steps:
        if instruction in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(word, str) for word in json.loads(value))
    assert json.loads(parser.cmd)[0] in COMMANDS
    assert {value for instruction, value in steps if instruction == "USER"} == {"phrasebeam"}


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"] and citation["license"] == PROJECT["license"]
    assert citation["cff-version"] == "1.2.0" and citation["authors"] and citation["title"]
