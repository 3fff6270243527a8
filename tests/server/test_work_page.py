"""The page to work in, in a real browser: documents, segments confirmed by keyboard, what is learned, undo, reload."""

import shutil

import pytest
import yaml

from phrasebeam import Decoder
from phrasebeam.server.app import create_app
from tests.decoder.models import random_toy
from tests.server.browser import browser, find, find_browser, opened, serving, texts, until

pytestmark = pytest.mark.needs_jit
ENTER, CONTROL, ALT, DOWN = "\ue007", "\ue009", "\ue00a", "\ue015"
EXPLAIN = ".editor .row button:nth-child(4)"
NEW = "a b x"
PO = r"""msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

msgid "a b"
msgstr ""

msgid "c"
msgstr "z"
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    find_browser()
    folder = tmp_path_factory.mktemp("models") / "toy"
    folder.mkdir()
    random_toy(folder, 1, most=4)
    return folder


@pytest.fixture
def page(model, tmp_path):
    """The page at a project, whose console must have no errors in the end."""
    app = create_app({"toy": model}, projects=tmp_path / "projects")
    with serving(app) as address, browser() as driver:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        yield opened(driver, f"{address}#project=mine")
        assert [one for one in driver.get_log("browser") if one["level"] == "SEVERE"] == []


def begin(page, lines):
    (field,) = find(page, "#paste")
    field.clear()
    field.send_keys("\n".join(lines))
    find(page, "#open .main")[0].click()
    until(lambda: len(find(page, "#segments > li")) == len(lines))


def at(page):
    """The number of the segment that is worked on, with a suggestion."""
    script = "return document.querySelector('#segments .active:has(.row button:nth-child(2):enabled)')?.dataset.segment"
    found = page.execute_script(script)
    return None if found is None else int(found)


def confirm(page, number, text, *keys):
    """Confirm a translation of the segment by the keyboard alone, and wait for the next one."""
    until(lambda: at(page) == number)
    field = page.switch_to.active_element
    field.send_keys(CONTROL, "a", CONTROL)
    field.send_keys(text, *(keys or (ENTER,)))
    until(lambda: at(page) not in (None, number) or "All segments" in texts(page, "#work-status")[0])


def test_twenty_segments_by_the_keyboard_learning_reload_and_on(page, tmp_path):
    lines = [f"{NEW} {'d ' * (i % 5)}c" for i in range(22)]
    begin(page, lines)
    confirm(page, 0, "s t neu w", CONTROL, ENTER)
    until(lambda: at(page) == 1)
    assert "neu" in page.switch_to.active_element.get_property("value")  # learned from the segment before
    until(lambda: "% like a b x" in texts(page, ".match")[0])
    for number in range(1, 20):
        confirm(page, number, f"s t neu {number}")
    assert texts(page, "#progress") == ["20 of 22 confirmed"]
    until(lambda: texts(page, "#learned-count") == ["20 segments"])
    page.refresh()
    until(lambda: at(page) == 20)
    assert texts(page, "#progress") == ["20 of 22 confirmed"]
    assert texts(page, ".translation")[:2] == ["s t neu w", "s t neu 1"]
    confirm(page, 20, "s t neu")
    confirm(page, 21, "w")
    find(page, "#download")[0].click()
    until(lambda: (tmp_path / "text.txt").exists())
    written = (tmp_path / "text.txt").read_text().splitlines()
    assert written == ["s t neu w", *(f"s t neu {number}" for number in range(1, 20)), "s t neu", "w"]


def test_sentences_of_raw_text_are_segments_of_their_paragraphs(raw_toy, tmp_path):
    app = create_app({"raw": raw_toy}, projects=tmp_path / "projects")
    with serving(app) as address, browser() as driver:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        opened(driver, f"{address}#project=mine")
        find(driver, "#paste")[0].send_keys("A b! C d?\n\n  A c!  B.")
        find(driver, "#open .main")[0].click()
        until(lambda: len(find(driver, "#segments > li")) == 4)
        confirm(driver, 0, "S' t!")
        until(lambda: "a b ! → s ' t !" in "".join(texts(driver, "#learned-list li")))
        confirm(driver, 1, "V w?")
        driver.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        find(driver, "#copy-all")[0].click()
        until(lambda: driver.execute_script("return window.copied") == "S' t! V w?\n\n  A c!  B.\n")
        find(driver, "#download")[0].click()
        until(lambda: (tmp_path / "text.txt").exists())
        assert (tmp_path / "text.txt").read_text() == "S' t! V w?\n\n  A c!  B.\n"


def test_what_was_learned_is_taken_back(page):
    begin(page, [NEW, f"{NEW} c"])
    confirm(page, 0, "s t neu")
    until(lambda: "neu" in page.switch_to.active_element.get_property("value"))
    until(lambda: find(page, "#learned-list button"))
    find(page, "#learned-list button")[0].click()
    until(lambda: texts(page, "#learned-count") == ["0 segments"])
    until(lambda: texts(page, "#progress") == ["0 of 2 confirmed"] and at(page) == 1)
    assert "neu" not in page.switch_to.active_element.get_property("value")


def test_a_segment_that_is_confirmed_again_is_learned_in_its_new_form(page):
    begin(page, [NEW, "c"])
    confirm(page, 0, "s t alt")
    until(lambda: at(page) == 1)
    find(page, "#segments button.segment")[0].click()
    confirm(page, 0, "s t neu")
    until(lambda: texts(page, "#learned-list bdi:nth-of-type(2)") == ["s t neu"])


def test_undo_takes_back_what_buttons_put_into_the_field(page):
    begin(page, [NEW])
    until(lambda: at(page) == 0)
    field = page.switch_to.active_element
    suggested = field.get_property("value")
    field.send_keys(" more")
    find(page, ".editor .row button:nth-child(3)")[0].click()
    until(lambda: field.get_property("value") == NEW)
    field.send_keys(CONTROL, "z")
    until(lambda: field.get_property("value") == f"{suggested} more")


def test_a_po_file_is_opened_and_filled_in(page, tmp_path):
    (tmp_path / "x.po").write_text(PO)
    find(page, "#file")[0].send_keys(str(tmp_path / "x.po"))
    until(lambda: at(page) == 0)
    assert "1 are already translated" in texts(page, "#work-status")[0]
    confirm(page, 0, "s t")
    (tmp_path / "x.po").unlink()
    find(page, "#download")[0].click()
    until(lambda: (tmp_path / "x.po").exists() and (tmp_path / "x.po").stat().st_size)  # the browser makes it empty
    assert 'msgid "a b"\nmsgstr "s t"\n' in (tmp_path / "x.po").read_text()


def test_bad_files_are_told(page, tmp_path):
    (tmp_path / "x.po").write_text('msgid "a')
    find(page, "#file")[0].send_keys(str(tmp_path / "x.po"))
    until(lambda: "x.po: " in texts(page, "#work-status")[0])
    page.get_log("browser")  # where the browser has noted the answer, too


def test_without_a_project_nothing_is_learned_and_that_is_said(model, tmp_path):
    with serving(create_app({"toy": model}, projects=tmp_path)) as address, browser() as driver:
        opened(driver, address)
        begin(driver, [NEW, "c"])
        confirm(driver, 0, "s t neu")
        until(lambda: "Nothing is learned" in texts(driver, "#work-status")[0])
        assert [*tmp_path.iterdir()] == []
        # The text that was pasted is translated late
        driver.execute_script("document.getElementById('paste').dispatchEvent(new Event('input'))")
        assert "stale" in find(driver, "#whole")[0].get_attribute("class")
        until(lambda: find(driver, "#whole:not(.stale)"))
        assert "Nothing is learned" in texts(driver, "#work-status")[0]


def test_a_document_goes_on_in_the_project_that_is_named_later(model, tmp_path):
    with serving(create_app({"toy": model}, projects=tmp_path)) as address, browser() as driver:
        opened(driver, address)
        begin(driver, [NEW, "c", "d"])
        confirm(driver, 0, "s t neu")
        find(driver, "#project")[0].send_keys("mine", ENTER)
        until(lambda: find(driver, "#learned")[0].is_displayed() and at(driver) is not None)
        assert texts(driver, "#progress") == ["1 of 3 confirmed"]
        confirm(driver, at(driver), "w")
        until(lambda: texts(driver, "#learned-count") == ["1 segment"])


def test_the_explorer_explains_a_segment_by_what_its_project_has_learned(page):
    begin(page, [NEW, f"{NEW} c"])
    confirm(page, 0, "s t neu")
    until(lambda: at(page) == 1)
    until(lambda: any(one.is_displayed() for one in find(page, EXPLAIN)))
    find(page, EXPLAIN)[0].click()
    until(lambda: any("neu" in text for text in texts(page, "article .text")))
    assert find(page, "#source")[0].get_property("value") == f"{NEW} c"


def test_other_segments_by_keys(page):
    begin(page, ["a", "b", "c"])
    until(lambda: at(page) == 0)
    page.switch_to.active_element.send_keys(ALT, DOWN)
    until(lambda: at(page) == 1)
    assert "segment=2" in page.current_url


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_any_width(model, tmp_path, width):
    with serving(create_app({"toy": model}, projects=tmp_path)) as address, browser(width, 700) as driver:
        opened(driver, f"{address}#project=mine")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        begin(driver, ["a b c d " * 20, "a"])
        until(lambda: at(driver) == 0)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_a_text_is_translated_while_it_is_typed(page, model):
    find(page, "#paste")[0].send_keys("a b\n\nc d")
    expected = [Decoder.load(model).translate(line) for line in ("a b", "c d")]
    until(lambda: find(page, "#whole")[0].get_property("value") == f"{expected[0]}\n\n{expected[1]}")
    page.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    find(page, "#copy-whole")[0].click()
    until(lambda: page.execute_script("return window.copied") == f"{expected[0]}\n\n{expected[1]}")
    assert not find(page, "#swap")[0].is_displayed()


def test_the_translation_is_translated_back_by_a_model_of_the_other_direction(raw_toy, tmp_path):
    back = tmp_path / "back"
    shutil.copytree(raw_toy, back)
    description = yaml.safe_load((back / "model.yaml").read_text())
    description["preprocessing"] |= {"source_language": "en", "target_language": "de"}
    (back / "model.yaml").write_text(yaml.safe_dump(description))
    app = create_app({"there": raw_toy, "back": back}, projects=tmp_path / "projects")
    with serving(app) as address, browser() as driver:
        opened(driver, address)
        find(driver, "#paste")[0].send_keys("A b! C d?")
        until(lambda: find(driver, "#whole")[0].get_property("value").count(" ") > 0)
        translation = find(driver, "#whole")[0].get_property("value")
        find(driver, "#swap")[0].click()
        until(lambda: "English → German" in texts(driver, "#kind")[0])
        assert find(driver, "#paste")[0].get_property("value") == translation
        until(lambda: find(driver, "#whole:not(.stale)"))
        assert [one for one in driver.get_log("browser") if one["level"] == "SEVERE"] == []
