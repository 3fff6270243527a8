"""The page in a real browser: type, see, click, complete, compare; no error in the console."""

import json
import os
from itertools import pairwise
from urllib.request import urlopen

import pytest

from phrasebeam import Decoder, Request
from phrasebeam.server import app as application
from phrasebeam.server.app import create_app
from phrasebeam.server.serving.served_models import version_of
from tests.decoder.models import random_toy
from tests.server.browser import browser, find, find_browser, opened, serving, texts, until

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


def ask(page, text, n_models=1):
    (source,) = find(page, "#source")
    source.clear()
    source.send_keys(text, "\ue007")
    until(lambda: texts(page, "#status") != ["Translating …"] and len(texts(page, "article .text")) == n_models)


def verdicts(page):
    return page.execute_script("return [...document.querySelectorAll('.verdict')].map((one) => one.dataset.verdict)")


def choose(page, title):
    page.execute_script(
        "[...document.querySelectorAll('article [role=tab]')].find((one) => one.textContent === arguments[0]).click()",
        title,
    )


def test_a_translation_is_seen_as_phrases_joined_to_its_source(page, models):
    ask(page, LINE)
    expected = Decoder.load(models["toy"]).translate(LINE)
    assert texts(page, "article .text") == [expected.text]
    assert texts(page, ".words span.word") == LINE.split()
    assert texts(page, ".words button.word") == [phrase.target for phrase in expected.phrases]
    assert len(find(page, "path.band")) == len(expected.phrases)
    asked = Request(confidence=Decoder.load(models["toy"]).confidence)
    sure = Decoder.load(models["toy"]).answer(LINE, asked).translation
    doubtful = [word for word, p in zip(sure.text.split(), sure.confidences) if p < 0.5]
    assert texts(page, ".words .doubtful") == doubtful
    said = [one for one in find(page, ".words button.word:not(.copied)") if one.text != "∅"]
    assert said and all("probability" in one.get_attribute("title") for one in said)
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
    assert {"word penalty", "language model"} <= set(names)
    choose(page, "N-best")
    assert [row.split("\n")[0] for row in texts(page, ".nbest tbody td:nth-child(2)")] == [one.text for one in expected]
    choose(page, "Search")
    until(lambda: len(find(page, "button.stack")) == len(LINE.split()))
    assert texts(page, ".stack-tables .best mark") == [expected[0].phrases[-1].target]
    choose(page, "Sparse")
    assert "No sparse feature occurs" in texts(page, "article [role=tabpanel]")[0]


def test_who_has_no_sentence_may_try_one(page, models):
    (phrase,) = {one["examples"][0] for one in served(page)[:1]}
    find(page, ".example")[0].click()
    until(lambda: len(texts(page, "article .text")) == 1)
    assert find(page, "#source")[0].get_property("value") == phrase
    assert texts(page, "article .text") == [Decoder.load(models["toy"]).translate(phrase).text]
    assert not find(page, "#examples")[0].is_displayed()


def served(page):
    """What the server tells of its models."""
    with urlopen(page.current_url.partition("#")[0] + "v1/models") as answer:
        return json.load(answer)["models"]


def test_the_keyboard_is_enough(page):
    ask(page, LINE)
    first = find(page, ".words button.word")[0]
    first.send_keys("\ue014")  # to the right
    active = page.switch_to.active_element
    assert active.get_attribute("data-phrase") == "1"
    active.send_keys("\ue007")
    assert texts(page, ".alternatives strong") == [active.text]
    tab = find(page, "article [role=tab][aria-selected=true]")[0]
    tab.send_keys("\ue014")
    assert texts(page, "article [role=tab][aria-selected=true]") == ["Score"]
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
        until(lambda verdict=verdict: verdicts(page) == [verdict])
    assert texts(page, "del") == ["nothing like it"]


def asked(page):
    """How often the page has asked for explanations."""
    return page.execute_script("return performance.getEntriesByName(new URL('/v1/explain', location).href).length")


def test_the_search_is_asked_for_when_it_is_looked_at(page):
    ask(page, LINE)
    assert asked(page) == 1
    choose(page, "N-best")
    assert asked(page) == 1
    choose(page, "Search")
    until(lambda: find(page, "button.stack") and asked(page) == 2)


def test_a_click_on_an_alternative_fixes_it_and_translates_the_rest_anew(page, models):
    ask(page, LINE)
    others = []
    for phrase in find(page, ".words button.word"):
        phrase.click()
        others = texts(page, ".alternatives td:first-child button")
        if others:
            break
    other = others[0]
    source = texts(page, ".panel h3 bdi")[0]
    find(page, ".alternatives td:first-child button")[0].click()
    until(lambda: find(page, ".term-source") and find(page, "#answers:not(.stale)"))
    assert find(page, ".term-source")[0].get_property("value") == source
    until(lambda: other in texts(page, ".words button.word"))


def test_a_click_on_a_translation_of_the_list_takes_it_over_and_undo_takes_it_back(page, models):
    ask(page, LINE)
    expected = Decoder.load(models["toy"]).nbest(LINE, 20, distinct=True)
    (field,) = find(page, "#translation")
    field.send_keys("mine")
    # Completions move what stands below them when they first appear; a click must not fall in between.
    until(lambda: find(page, "#completions li") and find(page, "#suggestion:not(.stale)"))
    choose(page, "N-best")
    find(page, ".nbest td:nth-child(2) button")[1].click()
    until(lambda: field.get_property("value") == expected[1].text)
    field.send_keys("\ue009z")
    until(lambda: field.get_property("value") == "mine")


def test_enter_compares(page, models):
    ask(page, LINE)
    (field,) = find(page, "#translation")
    field.send_keys("nothing like it", "\ue007")
    until(lambda: verdicts(page) == ["missing pair"])
    assert field.get_property("value") == "nothing like it"


def test_nothing_moves_while_a_translation_is_typed(page):
    ask(page, LINE)
    (field,) = find(page, "#translation")
    field.click()
    until(lambda: find(page, "#completions li"))
    page.execute_script(
        "window.tops = new Set(); const look = () => { tops.add(document.querySelector('#answers').offsetTop);"
        "requestAnimationFrame(look) }; look()"
    )
    word = texts(page, "#suggestion")[0].split()[0]
    for letter in word:
        field.send_keys(letter)
        until(lambda: find(page, "#suggestion:not(.stale)"))
    assert page.execute_script("return tops.size") == 1


def test_answers_to_another_sentence_are_dim_or_gone(page):
    ask(page, LINE)
    (field,) = find(page, "#translation")
    field.click()
    until(lambda: texts(page, "#suggestion") != [""])
    (source,) = find(page, "#source")
    source.send_keys(" a")
    assert "stale" in find(page, "#answers")[0].get_attribute("class")
    source.send_keys("\ue007")
    until(lambda: find(page, "#answers:not(.stale)"))
    assert (texts(page, "#suggestion"), find(page, "#completions li")) == ([""], [])
    source.send_keys(" a" * 300, "\ue007")
    until(lambda: "at most 200" in texts(page, "#status")[0])
    assert find(page, "article") == []
    page.get_log("browser")


def test_a_server_that_is_gone_is_told(models):
    with browser() as driver:
        with serving(create_app(models)) as address:
            opened(driver, address)
            ask(driver, LINE)
        find(driver, "#source")[0].send_keys(" b", "\ue007")
        until(lambda: "does not answer" in texts(driver, "#status")[0])
        assert find(driver, "article") == []


def test_the_address_keeps_what_is_asked(page):
    find(page, "#terms summary")[0].click()
    find(page, "#add-term")[0].click()
    find(page, ".term-source")[0].send_keys("b")
    find(page, ".term-target")[0].send_keys("zebra")
    find(page, "#models input")[1].click()
    ask(page, LINE, n_models=2)
    before = texts(page, "article .text")
    page.refresh()
    until(lambda: len(texts(page, "article .text")) == 2)
    assert texts(page, "article .text") == before and "zebra" in before[0]
    assert find(page, "#source")[0].get_property("value") == LINE


def test_raw_text_for_a_model_that_takes_it_beside_one_that_does_not(toy, raw_toy):
    with serving(create_app({"toy": toy, "raw": raw_toy})) as address, browser() as driver:
        opened(driver, address)
        until(lambda: "toy: tokens separated" in texts(driver, "#kind")[0])
        find(driver, "#models input")[1].click()
        until(lambda: find(driver, "#raw-choice")[0].is_displayed())
        until(lambda: "German → English" in texts(driver, "#kind")[0])
        ask(driver, "A b.", n_models=2)
        words = driver.execute_script(
            "return [...document.querySelectorAll('article')].map((one) => "
            "[...one.querySelectorAll('.words span.word')].map((word) => word.textContent).join(' '))"
        )
        assert words == ["A b.", "a b ."]
        assert "2 of 2 words unknown: A, b." in texts(driver, "article .hint")


def test_what_is_told_of_a_model_is_that_of_the_version_that_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(application, "SECONDS_BETWEEN_LOOKS", 0.05)
    directory, new = tmp_path / "toy", tmp_path / "new"
    for place, most in ((directory, 1), (new, 4)):
        place.mkdir()
        random_toy(place, 1, most=most)
    told = [f"{Decoder.load(place).model.tables.phrases.n_pairs} phrase pairs" for place in (directory, new)]
    assert told[0] != told[1]
    with serving(create_app({"toy": directory})) as address, browser() as driver:
        opened(driver, address)
        ask(driver, LINE)
        (label,) = find(driver, "#models label")
        assert label.get_attribute("title") == told[0]
        os.rename(directory, tmp_path / "old")
        os.rename(new, directory)
        version = version_of(directory)
        until(lambda: urlopen(f"{address}v1/models").read().decode().count(version))
        ask(driver, f"{LINE} a")
        until(lambda: label.get_attribute("title") == told[1])


def test_long_sentences_wrap(page):
    ask(page, "a b c d " * 20)
    assert len(find(page, ".blocks .block")) == len(find(page, ".blocks button.word")) > 10
    assert page.execute_script("return document.querySelector('.blocks').scrollWidth") <= 1280


def test_rows_of_opposite_directions_are_as_wide_as_the_wider_one(page):
    ask(page, "שלום עולם")
    widths = page.execute_script(
        "return [...document.querySelectorAll('.words')].map((row) => [row.offsetWidth, [...row.children]"
        ".reduce((sum, one) => sum + one.offsetWidth, 0)])"
    )
    assert widths[0][0] == widths[1][0] < max(sum for _, sum in widths) + 60


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
