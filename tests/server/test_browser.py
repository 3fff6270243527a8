"""The page in a real browser: type, see, click, complete, compare; no error in the console."""

from itertools import pairwise

import pytest

from phrasebeam import Decoder
from phrasebeam.server.app import create_app
from tests.decoder.models import random_toy
from tests.server.browser import browser, find_browser, serving, until

pytestmark = pytest.mark.needs_jit
LINE = "a b c d a"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two tiny models."""
    find_browser()
    folder = tmp_path_factory.mktemp("models")
    for seed, name in [(1, "toy"), (2, "other")]:
        (folder / name).mkdir()
        random_toy(folder / name, seed, most=4)
    return {name: folder / name for name in ("toy", "other")}


@pytest.fixture(scope="module")
def address(models):
    with serving(create_app(models, threads=2)) as address:
        yield address


@pytest.fixture
def page(address):
    """The page in a browser, whose console must have no errors in the end."""
    with browser() as driver:
        yield opened(driver, address)
        assert [one for one in driver.get_log("browser") if one["level"] == "SEVERE"] == []


def opened(driver, address):
    driver.get(address)
    until(lambda: find(driver, "#models input"))
    return driver


def find(page, selector):
    return page.find_elements("css selector", selector)


def texts(page, selector):
    """Texts of the elements, as they were at one moment."""
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return page.execute_script(script, selector)


def ask(page, text, n_models=1):
    (source,) = find(page, "#source")
    source.clear()
    source.send_keys(text, "\ue007")
    until(lambda: texts(page, "#status") != ["Translating …"] and len(texts(page, "article .text")) == n_models)


def verdicts(page):
    return page.execute_script("return [...document.querySelectorAll('.verdict')].map((one) => one.dataset.verdict)")


def choose(page, title):
    page.execute_script(
        "[...document.querySelectorAll('[role=tab]')].find((one) => one.textContent === arguments[0]).click()", title
    )


def test_a_translation_is_seen_as_phrases_joined_to_its_source(page, models):
    ask(page, LINE)
    expected = Decoder.load(models["toy"]).translate(LINE)
    assert texts(page, "article .text") == [expected.text]
    assert texts(page, ".words span.word") == LINE.split()
    assert texts(page, ".words button.word") == [phrase.target for phrase in expected.phrases]
    assert len(find(page, "path.band")) == len(expected.phrases)
    boxes = [one.rect for one in find(page, ".words span.word")]
    assert all(first["x"] + first["width"] <= second["x"] for first, second in pairwise(boxes))


def test_phrases_and_the_total_can_be_asked_about(page, models):
    ask(page, LINE)
    expected = Decoder.load(models["toy"]).nbest(LINE, 20, distinct=True)
    phrases = find(page, ".words button.word")
    phrases[-1].click()
    assert texts(page, ".alternatives strong") == [expected[0].phrases[-1].target]
    find(page, "button.total")[0].click()
    names = texts(page, "table.bars tr th")
    assert {"word_penalty", "language_model_0"} <= set(names)
    choose(page, "N-best")
    assert [row.split("\n")[0] for row in texts(page, ".nbest tbody td:nth-child(2)")] == [one.text for one in expected]
    choose(page, "Search")
    assert len(find(page, "button.stack")) == len(LINE.split())
    assert texts(page, ".stack-tables .best mark") == [expected[0].phrases[-1].target]
    choose(page, "Sparse")
    assert "None fired" in texts(page, "[role=tabpanel]")[0]


def test_the_keyboard_is_enough(page):
    ask(page, LINE)
    first = find(page, ".words button.word")[0]
    first.send_keys("\ue014")  # to the right
    active = page.switch_to.active_element
    assert active.get_attribute("data-phrase") == "1"
    active.send_keys("\ue007")
    assert texts(page, ".alternatives strong") == [active.text]
    tab = find(page, "[role=tab][aria-selected=true]")[0]
    tab.send_keys("\ue014")
    assert texts(page, "[role=tab][aria-selected=true]") == ["Score"]
    assert page.switch_to.active_element.text == "Score"


def test_what_is_typed_is_completed(page, models):
    ask(page, LINE)
    decoder = Decoder.load(models["toy"])
    (field,) = find(page, "#translation")
    whole = decoder.complete(LINE, "", partial_word=True).text
    field.click()
    until(lambda: "".join(texts(page, "#suggestion")) == whole)
    field.send_keys("\ue004")
    word = whole.split()[0]
    until(lambda: field.get_property("value") == word)
    until(lambda: "".join(texts(page, "#suggestion")) == whole)
    field.send_keys(" q")
    begun = decoder.complete(LINE, f"{word} q", partial_word=True).text
    until(lambda: "".join(texts(page, "#suggestion")) == begun)
    field.send_keys("\ue009", "\ue007")
    until(lambda: field.get_property("value") == begun)


def test_what_is_typed_is_compared(page, models):
    ask(page, LINE)
    best, second = Decoder.load(models["toy"]).nbest(LINE, 2, distinct=True)
    for text, verdict in [(best.text, "same"), (second.text, "worse"), ("nothing like it", "missing pair")]:
        (field,) = find(page, "#translation")
        field.clear()
        field.send_keys(text)
        find(page, "#writing button.main")[0].click()
        until(
            lambda verdict=verdict: [one.get_attribute("data-verdict") for one in find(page, ".verdict")] == [verdict]
        )
    assert texts(page, "del") == ["nothing like it"]


def test_terms_and_several_models(page, models):
    find(page, "#models input")[1].click()
    find(page, "#terms summary")[0].click()
    find(page, "#add-term")[0].click()
    find(page, ".term-source")[0].send_keys("b")
    find(page, ".term-target")[0].send_keys("zebra")
    ask(page, LINE, n_models=2)
    assert [one.get_attribute("data-model") for one in find(page, "article")] == ["toy", "other"]
    assert all("zebra" in text.split() for text in texts(page, "article .text"))


def test_text_is_text_and_runs_from_right_to_left(page):
    ask(page, "שלום <b>x</b> עולם")
    assert texts(page, ".words span.word") == ["שלום", "<b>x</b>", "עולם"]
    assert find(page, "article b") == []
    boxes = [one.rect["x"] for one in find(page, ".words span.word")]
    assert boxes == sorted(boxes, reverse=True)
    assert len(find(page, "path.band")) == len(find(page, ".words button.word"))


def test_errors_are_told(page):
    ask(page, "a " * 300, n_models=0)
    assert "at most 200" in texts(page, "#status")[0]
    page.get_log("browser")  # where the browser has noted the answer, too


def test_a_token_is_asked_for(models):
    with serving(create_app(models, token="a-secret-of-many-letters")) as address, browser() as driver:
        driver.get(address)
        until(lambda: "token" in texts(driver, "#status")[0])
        find(driver, "#token")[0].send_keys("a-secret-of-many-letters", "\ue007")
        until(lambda: find(driver, "#models input"))
        assert not find(driver, "#access")[0].is_displayed()
        ask(driver, LINE)


@pytest.mark.parametrize("is_dark", [False, True])
def test_narrow_screens_scroll_in_one_direction_alone(address, is_dark):
    with browser(360, 700, is_dark) as driver:
        ask(opened(driver, address), LINE * 3)
        for title in ("Phrase", "Score", "N-best", "Search", "Sparse"):
            choose(driver, title)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 360
        ground = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(22, 24, 28)") == is_dark
