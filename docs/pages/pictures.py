"""Pictures in Chromium of the server's page and of reports, of the demo's corpus: python -m docs.pages.pictures."""

import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import phrasebeam
from docs.pages.drawn_pictures import draw_all
from phrasebeam.server.app import create_app
from tests.server.browser import browser, find, serving, texts, until

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
SENTENCE_PAIRS, SEED_OF_TEXT = 2000, 2
DEVELOPMENT = 60  # sentences of reports
CONFIRMED = 3  # segments of the document
SENTENCE = 5  # of the text, in the explorer
WIDE, NARROW = (1280, 860), (400, 860)
HEBREW = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבצדעפגהיזקלמנוטחרסתשוהכיז")  # a letter for each
EXPLORED = ("explore", WIDE, False), ("explore-dark", WIDE, True), ("explore-narrow", NARROW, False)
READY = "#segments .active[data-segment='{}'] .row button:enabled:nth-child(2)"  # a segment that has a suggestion


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    draw_all()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source, target = phrasebeam.demo_corpus(folder / "train", sentences=SENTENCE_PAIRS)
        phrasebeam.train_model(source, target, folder / "animals")
        text, _ = phrasebeam.demo_corpus(folder / "text", sentences=10, seed=SEED_OF_TEXT, noise=0.0)
        lines = text.read_text(encoding="utf-8").splitlines()
        with serving(create_app({"animals": folder / "animals"}, projects=folder / "projects")) as address:
            work = f"{address}#view=work&project=stories"
            _picture("work", WIDE, False, work, lambda driver: _work(driver, lines))
            explore = f"{address}#view=explore&s={lines[SENTENCE].replace(' ', '+')}"
            for name, size, is_dark in EXPLORED:
                _picture(name, size, is_dark, explore, _explore)
        _right_to_left(folder, source, target, lines[SENTENCE])
        _reports(folder)


def _right_to_left(folder: Path, source: Path, target: Path, line: str) -> None:
    """A picture of a translation that is read from right to left: English words in Hebrew letters."""
    written = folder / "train.he"
    written.write_text(target.read_text(encoding="utf-8").translate(HEBREW), encoding="utf-8")
    phrasebeam.train_model(source, written, folder / "hebrew")
    with serving(create_app({"hebrew": folder / "hebrew"})) as address:
        _picture("explore-rtl", WIDE, False, f"{address}#view=explore&s={line.replace(' ', '+')}", _explore)


def _picture(name: str, size: tuple[int, int], is_dark: bool, address: str, act: Callable[[Any], None]) -> None:
    """A picture of the page at an address, once `act` has done what it shows."""
    with browser(*size, is_dark) as driver:
        driver.get(address)
        act(driver)
        driver.save_screenshot(str(FOLDER / f"{name}.png"))
        print(f"{FOLDER / name}.png: written")


def _reports(folder: Path) -> None:
    """Pictures of the report of a tuning, and of two systems that are compared."""
    with chdir(folder):  # names in the pages are short ones
        dev = phrasebeam.demo_corpus("dev", sentences=DEVELOPMENT, seed=SEED_OF_TEXT + 1)
        phrasebeam.tune("animals", *dev, "tuned", iterations=3, nbest=50, seed=1)
        phrasebeam.report("tuned", "report.html")
        text, reference = phrasebeam.demo_corpus("test", sentences=DEVELOPMENT, seed=SEED_OF_TEXT + 2)
        systems = ["untuned.txt", "tuned.txt"]
        for model, system in zip(("animals", "tuned"), systems):
            phrasebeam.translate(model, input=text, output=system)
        compared = {"reference": reference, "source": text, "tokenize": "none"}
        phrasebeam.report(systems, "compared.html", **compared)
    _picture("report", WIDE, False, (folder / "report.html").as_uri(), lambda driver: _show(driver, "svg", -120))
    _picture("compared", WIDE, False, (folder / "compared.html").as_uri(), lambda driver: _show(driver, "h2", -20, 1))


def _show(driver: Any, selector: str, above: int, number: int = 0) -> None:
    """Scroll to an element, and so many pixels further."""
    script = "scrollTo(0, arguments[0].getBoundingClientRect().top + scrollY + arguments[1])"
    driver.execute_script(script, find(driver, selector)[number], above)


def _work(driver: Any, lines: list[str]) -> None:
    """Open a document, and confirm some of its segments as they are suggested."""
    _wait_for_models(driver)
    find(driver, "#paste")[0].send_keys("\n".join(lines))
    find(driver, "#open .main")[0].click()
    for number in range(CONFIRMED + 1):
        until(lambda number=number: find(driver, READY.format(number)))
        if number < CONFIRMED:
            find(driver, ".confirm")[0].click()
    until(lambda: texts(driver, "#learned-count") == [f"{CONFIRMED} segments"])


def _explore(driver: Any) -> None:
    """Wait for the answer, and look at the alternatives of a phrase."""
    _wait_for_models(driver)
    until(lambda: find(driver, "button.word"))
    buttons = find(driver, "button.word")
    buttons[len(buttons) // 2].click()


def _wait_for_models(driver: Any) -> None:
    until(lambda: find(driver, "#models input"))


if __name__ == "__main__":
    main()
