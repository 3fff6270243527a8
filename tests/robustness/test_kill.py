"""A short campaign of kills: a command with children of its own, one with workers, one that resumes."""

from tests.robustness.kill_campaign import campaign


def test_killed_commands_end_as_they_should(capfd):
    assert campaign(3, 1, ["train-model", "train-ranking", "tune mert"]) == 0, capfd.readouterr().out
