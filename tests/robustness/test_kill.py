"""A short campaign of kills: a command with children of its own, and one with workers that goes on where it was."""

from tests.robustness.kill_campaign import campaign


def test_killed_commands_end_as_they_should(capfd):
    assert campaign(2, 1, ["train-model", "train-ranking"]) == 0, capfd.readouterr().out
