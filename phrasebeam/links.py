"""Check of a checkout's links to subpackages, which git writes as small files if it has no symbolic links."""

import sys
from pathlib import Path

LINKED = ("lm", "decoder", "training", "server", "configs")


def broken_links(package: Path = Path(__file__).parent) -> str:
    """A message about links that are not folders, with advice; empty if all are folders."""
    missing = [name for name in LINKED if not (package / name).is_dir()]
    if not missing:
        return ""
    return (
        f"{package / missing[0]}: expected a link to the folder {missing[0]}, found none; "
        "clone the repository again with symbolic links: git clone -c core.symlinks=true "
        "(on Windows in developer mode), or install the released package"
    )


if __name__ == "__main__":
    sys.exit(broken_links() or 0)
