"""Hints: lines that a command prints on standard error when its work is done; after an error they are not printed."""

_hints: dict[str, None] | None = None  # in order, each once; None: no command runs


def begin_hints() -> None:
    """Collect hints until `end_hints`; called when a command starts."""
    global _hints
    _hints = {}


def hint(line: str) -> None:
    """Let the running command, if there is one, print `line` at its end."""
    if _hints is not None:
        _hints[line] = None


def end_hints() -> list[str]:
    """The lines of all hints since the command began."""
    global _hints
    lines, _hints = list(_hints or ()), None
    return lines
