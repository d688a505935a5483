"""Document dates: their written form in a file, and the value that a reader with the file's date order must return.

Guarantees: one format and one order per file; the file shows the order unless the plan is ambiguous.
Does not guarantee: realistic office hours.
"""

import enum
import random
from dataclasses import dataclass
from datetime import datetime, timedelta

_FIRST_DAY = datetime(1994, 1, 3)
_DAYS = 30 * 365


class DateFormat(enum.Enum):
    """The written form of dates; slash formats pad some numbers and not others."""

    MDY = "5/21/2001"
    DMY = "21/5/2001"
    MDY_TIME = "5/21/2001 3:48 PM"
    DMY_TIME = "21/05/2001 15:48"
    ISO = "2001-05-21"
    ISO_TIME = "2001-05-21 15:48:09"
    ISO_UTC = "2001-05-21T15:48:09Z"
    YYYYMMDD = "20010521"
    DMY_DIGITS = "21052001"
    MDY_DIGITS = "05212001"

    @property
    def order(self) -> str:
        """Return DMY, MDY or YMD."""
        return self.name[:3] if self.name[:3] in ("MDY", "DMY") else "YMD"

    @property
    def is_ordered(self) -> bool:
        """Whether day and month can be confused."""
        return self.order != "YMD"


_STRFTIME = {
    DateFormat.ISO: "%Y-%m-%d",
    DateFormat.ISO_TIME: "%Y-%m-%d %H:%M:%S",
    DateFormat.ISO_UTC: "%Y-%m-%dT%H:%M:%SZ",
    DateFormat.YYYYMMDD: "%Y%m%d",
    DateFormat.DMY_DIGITS: "%d%m%Y",
    DateFormat.MDY_DIGITS: "%m%d%Y",
}
_IMPOSSIBLE = {
    DateFormat.ISO: "2024-02-30",
    DateFormat.ISO_TIME: "2024-02-30 10:00:00",
    DateFormat.ISO_UTC: "2024-02-30T10:00:00Z",
    DateFormat.YYYYMMDD: "20240230",
    DateFormat.MDY: "02/30/2024",
    DateFormat.MDY_TIME: "02/30/2024 1:05 PM",
    DateFormat.DMY: "30/02/2024",
    DateFormat.DMY_TIME: "30/02/2024 13:05",
    DateFormat.DMY_DIGITS: "30022024",
    DateFormat.MDY_DIGITS: "02302024",
}


@dataclass(frozen=True)
class DatePlan:
    """The format of a file's dates, and the order in which a reader must read them."""

    format: DateFormat
    ambiguous: bool
    read_as: str

    def draw(self, rng: random.Random, evident: bool = False) -> tuple[str, datetime]:
        """Return a date as written and as read; an evident one shows the order of an unambiguous format."""
        day = _FIRST_DAY + timedelta(days=rng.randrange(_DAYS), seconds=rng.randrange(86_400))
        if self.format.is_ordered and self.ambiguous:
            day = day.replace(day=rng.randint(1, 12))
        elif self.format.is_ordered and evident:
            day = day.replace(day=rng.randint(13, 28))
        return self._write(rng, day), self._read(day)

    def draw_invalid(self, rng: random.Random) -> str:
        """Return a text that is not a date and does not suggest a wrong date order."""
        words = ["see file", "circa May", "see cover"]
        return rng.choice(words if self.ambiguous else [*words, _IMPOSSIBLE[self.format]])

    def _write(self, rng: random.Random, day: datetime) -> str:
        if self.format in _STRFTIME:
            return day.strftime(_STRFTIME[self.format])
        numbers = [day.month, day.day] if self.format.order == "MDY" else [day.day, day.month]
        text = "/".join(f"{n:02d}" if rng.random() < 0.3 else str(n) for n in numbers) + f"/{day.year}"
        if self.format is DateFormat.MDY_TIME:
            text += f" {day.hour % 12 or 12}:{day.minute:02d} {'AM' if day.hour < 12 else 'PM'}"
        return text + (f" {day.hour:02d}:{day.minute:02d}" if self.format is DateFormat.DMY_TIME else "")

    def _read(self, day: datetime) -> datetime:
        if self.format in (DateFormat.MDY_TIME, DateFormat.DMY_TIME):
            day = day.replace(second=0)
        elif self.format not in (DateFormat.ISO_TIME, DateFormat.ISO_UTC):
            day = day.replace(hour=0, minute=0, second=0)
        swapped = self.format.is_ordered and self.read_as != self.format.order
        return day.replace(month=day.day, day=day.month) if swapped else day
