"""A slow reader of load files, written from the rules for records alone: it judges whether samples can be misread."""

from dataclasses import dataclass

from samples.generator import Generated


@dataclass(frozen=True)
class Read:
    """A record as it was found; no cells where its quoting is damaged."""

    line: int
    text: str
    cells: list[str] | None


def decoded(generated: Generated) -> str:
    """The text of the file, U+FFFD for what cannot be decoded, without a byte order mark."""
    return generated.data.decode(generated.spec.encoding, "replace").removeprefix("\ufeff")


def read(generated: Generated) -> list[Read]:
    """All records, the header not counted."""
    text = decoded(generated)
    at = text.find("\n") + 1 if generated.truth.has_header else 0
    if generated.truth.has_header and at == 0:
        return []
    found = []
    while at < len(text):
        if text.startswith(("\n", "\r\n"), at):
            at = text.index("\n", at) + 1
            continue
        record = _record(generated, text, at)
        end = record[1] if record else _next_start(generated, text, at)
        found.append(Read(text.count("\n", 0, at) + 1, text[at:end], record[0] if record else None))
        at = end
    return found


def _next_start(generated: Generated, text: str, at: int) -> int:
    while (at := text.find("\n", at) + 1) and at < len(text):
        record = _record(generated, text, at)
        if record and len(record[0]) == len(generated.truth.columns):
            return at
        if generated.spec.starts_quoted and _starts_with_a_quoted_cell(generated, text, at):
            return at
    return len(text)


def _starts_with_a_quoted_cell(generated: Generated, text: str, at: int) -> bool:
    cell = _cell(generated, text, at) if text.startswith(generated.truth.qualifier, at) else None
    return cell is not None and text.startswith(generated.truth.delimiter, cell[1])


def _record(generated: Generated, text: str, at: int) -> tuple[list[str], int] | None:
    """The cells from `at` and where the next line begins."""
    cells = []
    while True:
        cell = _cell(generated, text, at)
        if cell is None:
            return None
        cells.append(cell[0])
        at = cell[1]
        if not text.startswith(generated.truth.delimiter, at):
            break
        at += 1
    if generated.spec.trailing_delimiter and cells[-1] == "":
        cells.pop()
    end = text.find("\n", at) + 1
    return cells, end or len(text)


def _cell(generated: Generated, text: str, at: int) -> tuple[str, int] | None:
    quote, delimiter = generated.truth.qualifier, generated.truth.delimiter
    if not quote or not text.startswith(quote, at):
        ends = [place for place in (text.find(delimiter, at), text.find("\n", at)) if place >= 0]
        end = min(ends, default=len(text))
        return (text[at:end].removesuffix("\r"), end) if text[end : end + 1] != delimiter else (text[at:end], end)
    value = ""
    at += 1
    while (end := text.find(quote, at)) >= 0:
        value += text[at:end]
        if not text.startswith(quote, end + 1):
            return _after_quote(text, end + 1, delimiter, value)
        value += quote
        at = end + 2
    return None


def _after_quote(text: str, at: int, delimiter: str, value: str) -> tuple[str, int] | None:
    while text.startswith(" ", at):
        at += 1
    closes = at == len(text) or text.startswith((delimiter, "\n", "\r\n"), at)
    return (value, at) if closes else None
