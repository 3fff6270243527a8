"""The site of the documentation: it is built without a complaint, whole, and asks for nothing from a network."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
import yaml

from tests import ROOT
from tests.server.browser import browser, until

DOCS = ROOT / "docs"
WRITTEN = "from docs.pages.written_pages import PAGES; [page() for page in PAGES.values()]"
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}


class _Loader(HTMLParser):
    """The addresses that a page loads by itself."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        address = dict(attrs).get(LOADING.get(tag, ""))
        if address and dict(attrs).get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(address)


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def site(tmp_path_factory, cache):
    """The folder of the site, built as `make docs` does, with a cache of kernels of its own."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"PHRASEBEAM_CACHE": str(cache), "NO_MKDOCS_2_WARNING": "1"}
    build = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    for words in (["-c", WRITTEN], build):
        done = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_no_kernel_is_compiled(site, cache):
    assert not [path for path in cache.rglob("*") if path.is_file()]


def in_nav(entry):
    """All pages of an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in in_nav(part)]


def test_every_page_is_in_the_navigation_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = in_nav(yaml.safe_load(text)["nav"])
    assert len(pages) == len({*pages})
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} < {*pages}


def test_pages_load_nothing_from_a_network(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) > 30
    for page in pages:
        loader = _Loader()
        loader.feed(page.read_text(encoding="utf-8"))
        assert loader.loaded
        for address in loader.loaded:
            assert not re.match(r"(\w+:)?//", address), (page, address)
            path = address.partition("?")[0]
            assert ((site if path.startswith("/") else page.parent) / path.lstrip("/")).exists(), (page, address)
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:\w+:)?//|@import", sheet.read_text(encoding="utf-8")), sheet


def test_all_public_names_are_documented(site):
    import phrasebeam

    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in dir(phrasebeam):
        if not name.startswith("_"):
            place = f"{getattr(phrasebeam, name).__module__}.{name}"
            assert f'id="{place}"' in text, place


def test_it_can_be_read_and_searched_without_a_server(site):
    with browser() as driver:
        driver.get((site / "reference" / "server.html").as_uri())
        driver.set_script_timeout(30)
        box = driver.find_element("css selector", "input.md-search__input")
        box.click()
        box.send_keys("max violation perceptron")  # "max-", on its way, is no query
        found = ".md-search-result__item a[href*='yu2013-maxforce.html']"
        assert until(lambda: driver.find_elements("css selector", found))
        assert driver.get_log("browser") == []


@pytest.mark.parametrize("is_dark", [False, True])
def test_no_page_is_wider_than_a_narrow_screen(site, is_dark):
    with browser(390, 800, is_dark) as driver:
        for page in ("index", "tutorial", "reference/settings", "experiments/yu2013-maxforce"):
            driver.get((site / f"{page}.html").as_uri())
            widths = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
            assert widths[0] <= widths[1], page
            colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 384) == is_dark, colour
        assert driver.get_log("browser") == []
