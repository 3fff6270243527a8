"""Pictures of the server's page, taken in Chromium at a model of the demo's corpus: python -m docs.pages.pictures."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import phrasebeam
from phrasebeam.server.app import create_app
from tests.server.browser import browser, find, opened, serving, texts, until

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
SENTENCE_PAIRS, SEED_OF_TEXT = 2000, 2
CONFIRMED = 3  # segments of the document
SENTENCE = 5  # of the text, in the explorer
WIDE, NARROW = (1280, 860), (400, 860)
EXPLORED = ("explore", WIDE, False), ("explore-dark", WIDE, True), ("explore-narrow", NARROW, False)
READY = "#segments .active[data-segment='{}'] .row button:enabled:nth-child(2)"  # a segment that has a suggestion


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
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


def _picture(name: str, size: tuple[int, int], is_dark: bool, address: str, act: Callable[[Any], None]) -> None:
    """A picture of the page at an address, once `act` has done what it shows."""
    with browser(*size, is_dark) as driver:
        act(opened(driver, address))
        driver.save_screenshot(str(FOLDER / f"{name}.png"))
        print(f"{FOLDER / name}.png: written")


def _work(driver: Any, lines: list[str]) -> None:
    """Open a document, and confirm some of its segments as they are suggested."""
    find(driver, "#paste")[0].send_keys("\n".join(lines))
    find(driver, "#open .main")[0].click()
    for number in range(CONFIRMED + 1):
        until(lambda number=number: find(driver, READY.format(number)))
        if number < CONFIRMED:
            find(driver, ".confirm")[0].click()
    until(lambda: texts(driver, "#learned-count") == [f"{CONFIRMED} segments"])


def _explore(driver: Any) -> None:
    """Wait for the answer, and look at the alternatives of a phrase."""
    until(lambda: find(driver, "button.word"))
    buttons = find(driver, "button.word")
    buttons[len(buttons) // 2].click()


if __name__ == "__main__":
    main()
