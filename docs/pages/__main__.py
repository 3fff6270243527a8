"""Writes the pages that come from the code: python -m docs.pages."""

from docs.pages.written_pages import PAGES, REFERENCE


def main() -> None:
    """Write each page that is not what the code says."""
    for name, page in PAGES.items():
        path, text = REFERENCE / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path}: written")


if __name__ == "__main__":
    main()
