"""What MkDocs is told besides mkdocs.yml: documents from outside docs/ are pages, too, and how links lead to them."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs/"
DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
SHIM = "https://unpkg.com/iframe-worker/shim"  # what the theme's plugin `offline` has pages load
LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """The files of the site: those of docs/, the documents, and the pictures beside them."""
    pictures = (path.relative_to(ROOT).as_posix() for path in (ROOT / "benchmarks" / "results").glob("*.png"))
    for path in (*DOCUMENTS, *pictures):
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The text of a page with its links as the site has them, README.md's too; what is no page becomes its name."""
    here = page.file.src_uri
    place = here if here in DOCUMENTS else DOCS + here

    def on_site(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups(default="")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(place), target)).removeprefix(DOCS)
        if found == "README.md":
            found = "index.md"
        if files.get_file_from_path(found) is None and (ROOT / posixpath.dirname(place) / target).exists():
            return text
        return f"{picture}[{_shown(text, found)}]({posixpath.relpath(found, posixpath.dirname(here) or '.')}{anchor})"

    return LINK.sub(on_site, markdown)


def _shown(text: str, target: str) -> str:
    """What a link shows: in place of the name of a file that of the page, or for README.md of its folder."""
    if not text.endswith(".md"):
        return text
    return posixpath.basename(posixpath.dirname(target)) if text == "README.md" else text.removesuffix(".md")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """A page that loads nothing from a network: the search of pages that are opened as files is our own script."""
    return output.replace(SHIM, posixpath.relpath("search_frame.js", posixpath.dirname(page.url) or "."))


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The page of what is not found, likewise."""
    return output_content.replace(SHIM, "/search_frame.js")
