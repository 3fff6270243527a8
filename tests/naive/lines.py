"""Lines of text as bytes, one by one."""

BOM = b"\xef\xbb\xbf"


def read_lines(data, longest):
    """The lines before the first that is refused, and the message for that one, or None."""
    lines, number = [], 0
    while data:
        line, end, rest = data.partition(b"\n")
        line, data, number = line + end, rest, number + 1
        if len(line) >= longest:
            return lines, f"text:{number}: a line of {longest} bytes or more, expected text of a sentence a line"
        if number == 1 and line.startswith(BOM):
            line = line[len(BOM) :]
        try:
            lines.append(line.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError as error:
            byte, column = line[error.start], error.start + 1
            return (
                lines,
                f"text:{number}: byte 0x{byte:02x} at column {column} is not UTF-8; convert it (iconv -t UTF-8)",
            )
    return lines, None
