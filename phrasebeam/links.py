"""The subpackages beside the package: links in a checkout, which git writes as text files if it has no symbolic links.

Such a text file, `phrasebeam/lm` with the text `../lm`, is used like the link.
"""

import sys
from pathlib import Path

LINKED = ("lm", "decoder", "training", "server", "configs")


def more_places(package: Path) -> list[str]:
    """The folder beside `package`, to be added to the module search path, if the links are text; otherwise nothing."""
    return [str(package.parent)] if any(_is_text(package / name) for name in LINKED) else []


def broken_links(package: Path = Path(__file__).parent) -> str:
    """A message about links that lead to no folder, with advice; empty if all are good."""
    missing = [name for name in LINKED if not ((package / name).is_dir() or _is_text(package / name))]
    if not missing:
        return ""
    return (
        f"{package / missing[0]}: expected a link to the folder {missing[0]}, found none; "
        "clone the repository again with symbolic links: git clone -c core.symlinks=true "
        "(on Windows in developer mode), or install a checkout without them by pip install -e ., "
        "or install the released package"
    )


def _is_text(link: Path) -> bool:
    """Whether a link is a text file that names its folder, and the folder exists."""
    goal = f"../{link.name}"
    if not link.is_file() or link.stat().st_size > len(goal) + 2:  # 2: the end of a line
        return False
    return link.read_text(encoding="utf-8", errors="replace").strip() == goal and (link.parent / goal).is_dir()


if __name__ == "__main__":
    sys.exit(broken_links() or 0)
