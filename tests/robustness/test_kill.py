"""Short campaigns of kills: a command with children, one with workers that goes on where it was, and a server."""

from tests.robustness import kill_server
from tests.robustness.kill_campaign import campaign


def test_killed_commands_end_as_they_should(capfd):
    assert campaign(2, 1, ["train-model", "train-ranking"]) == 0, capfd.readouterr().out


def test_a_killed_server_has_what_it_answered(capfd):
    assert kill_server.campaign(3, 1) == 0, capfd.readouterr().out
    last = capfd.readouterr().out.splitlines()[-1]
    assert int(last.split()[3]) > 0, last
