"""A browser for tests: the system's Chromium without a window, and a server that it talks to."""

import os
import shutil
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

PATIENCE = 30.0  # seconds until something has appeared


def find_browser():
    """The paths of Chromium and its driver. Skips where there are none; in CI that is a failure."""
    found = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if not all(found):
        if os.environ.get("CI"):
            pytest.fail("Chromium or its driver is missing, and CI must try the page: apt-get install chromium-driver")
        pytest.skip("Chromium or its driver is missing: the page is not tried (apt-get install chromium-driver)")
    return found


@contextmanager
def browser(width=1280, height=900, is_dark=False):
    """A browser with a window of that size."""
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    chromium, driver_path = find_browser()
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", f"window-size={width},{height}"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        colours = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": colours})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield driver
    finally:
        driver.quit()


@contextmanager
def serving(app):
    """The address of a server of the application, in a thread."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    server.capture_signals = lambda: _nothing()
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def _nothing():
    yield


def until(condition):
    """Wait until a condition holds; what it gives."""
    begin = time.monotonic()
    while not (result := condition()):
        assert time.monotonic() - begin < PATIENCE, "it did not come"
        time.sleep(0.02)
    return result


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
