"""The files of docs/cluster: shells and Kubernetes can read them, and they name what phrasebeam and Ray have."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from phrasebeam.cli import COMMANDS
from tests import ROOT

FOLDER = ROOT / "docs" / "cluster"
SCRIPTS = sorted(FOLDER.glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound(script):
    subprocess.run(["bash", "-n", script], check=True)
    text = script.read_text()
    assert "set -euo pipefail" in text
    assert "--engine ray --address" in text


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_give_options_that_ray_has(script):
    pytest.importorskip("ray")
    known = subprocess.run([Path(sys.executable).parent / "ray", "start", "--help"], capture_output=True, text=True)
    starts = re.findall(r"ray\"? start((?:[^\n&]|\\\n)*)", script.read_text())
    assert starts
    for option in (option for start in starts for option in re.findall(r"--[a-z-]+", start)):
        assert option in known.stdout, option


def test_the_scripts_say_how_they_are_used():
    without = subprocess.run(["bash", FOLDER / "machines.sh"], capture_output=True, text=True)
    assert without.returncode == 2
    assert without.stderr.startswith("usage:")


def test_the_cluster_of_kubernetes_has_one_volume_for_all_and_one_image():
    claim, cluster = yaml.safe_load_all((FOLDER / "kuberay.yaml").read_text())
    assert (claim["kind"], cluster["kind"]) == ("PersistentVolumeClaim", "RayCluster")
    groups = [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]
    specs = [group["template"]["spec"] for group in groups]
    assert {spec["volumes"][0]["persistentVolumeClaim"]["claimName"] for spec in specs} == {claim["metadata"]["name"]}
    assert len({spec["containers"][0]["image"] for spec in specs}) == 1
    assert all(spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/data" for spec in specs)
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]


def test_the_ray_of_kubernetes_is_that_which_is_installed():
    ray = pytest.importorskip("ray")
    cluster = list(yaml.safe_load_all((FOLDER / "kuberay.yaml").read_text()))[1]
    assert cluster["spec"]["rayVersion"] == ray.__version__


def test_the_page_names_only_commands_that_there_are():
    page = (ROOT / "docs" / "cluster.md").read_text()
    named = set(re.findall(r"phrasebeam ([a-z-]+) ", page)) | set(
        re.findall(r"`((?:train|forced|tune)-?[a-z-]*)`", page)
    )
    assert named
    assert named <= {*COMMANDS}
