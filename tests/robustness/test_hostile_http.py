"""A short campaign of hostile clients."""

from tests.robustness.hostile_http import campaign


def test_hostile_clients_do_no_harm(capfd):
    assert campaign(150, 1) == 0, capfd.readouterr().out
