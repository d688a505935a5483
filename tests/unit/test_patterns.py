"""No regular expression of our code takes more than linear time, so that no cell of a file can hold a worker.

Steps are counted, not timed: the result is the same on every machine.
"""

import re
from typing import Any, NamedTuple

import pytest

from core.dates import written_dates as dates
from core.image_load_file.ipro import parse_lfp_line
from tests.support.regexes.attack_texts import Attack, list_attacks
from tests.support.regexes.source_patterns import find_patterns
from tests.support.regexes.step_counts import StepCounter

COUNT = 48
# Twice the steps for twice the length, and those that do not depend on it; four times are quadratic.
MOST = 3
# As they were: two runs of the same characters, one after the other, of which either can be empty.
TIME_AS_BEFORE = r"(?P<day>\d{1,2}/\d{1,2}/\d{4}) (?P<hour>\d{1,2}:\d{2})\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC)?"
FILE_AS_BEFORE = r"(?P<place>.*);[ \t]*(?P<type>[0-9]{1,3})[ \t]*(?:,[ \t]*(?P<rotation>[0-9]*)[ \t]*)?"


class Growth(NamedTuple):
    factor: float
    attack: Attack


def find_worst_growth(pattern: re.Pattern[Any], method: str, count: int = COUNT) -> Growth:
    counter = StepCounter(pattern)
    return max(measure_growth(counter, method, attack, count) for attack in list_attacks(pattern))


def measure_growth(counter: StepCounter, method: str, attack: Attack, count: int) -> Growth:
    doubled = counter.count(method, attack.build(2 * count))
    # Less than what the shorter text takes if it takes one step: the growth is not looked at.
    return Growth(1 if doubled <= count else doubled / max(1, counter.count(method, attack.build(count))), attack)


def test_no_pattern_takes_more_than_linear_time() -> None:
    """Prints the figures with `-s`."""
    used = {(each.pattern, method): each.site for each in find_patterns() for method in each.methods}
    growths = {key: find_worst_growth(*key) for key in used}
    worst = max(growths, key=lambda key: growths[key].factor)
    print(f"{len({pattern for pattern, _ in used})} patterns, worst growth {growths[worst]} of {used[worst]}")
    quadratic = {used[key]: growth for key, growth in growths.items() if growth.factor >= MOST}
    assert quadratic == {}


@pytest.mark.parametrize(
    ("pattern", "method", "count"),
    [
        (TIME_AS_BEFORE, "fullmatch", COUNT),
        (FILE_AS_BEFORE, "fullmatch", COUNT),
        (r"(.*?)([0-9]+)([^0-9]*)", "fullmatch", COUNT),
        (r'("(?:[^"]|"")*+")(,|\Z)', "finditer", COUNT),
        (r" +$", "sub", COUNT),
        (r"(a|aa)+b", "match", 8),
    ],
)
def test_quadratic_and_exponential_patterns_are_seen(pattern: str, method: str, count: int) -> None:
    assert find_worst_growth(re.compile(pattern, re.DOTALL), method, count).factor > MOST


def test_a_date_of_over_64_characters_is_not_read_and_padding_does_not_count() -> None:
    longest = "Wednesday, September 30, 2020 at 10:00 PM Greenwich Mean Time"
    padded = longest.replace(" PM", " " * (65 - len(longest)) + "PM")
    assert dates.parse_date(f"{' ' * 100}{longest}{' ' * 100}", "MDY") == dates.parse_date("2020-09-30 22:00", "MDY")
    assert (len(padded), dates.parse_date(padded, "MDY")) == (64, dates.parse_date("2020-09-30 22:00", "MDY"))
    assert dates.parse_date(padded.replace("at", "at "), "MDY") is None


def test_hostile_lines_of_the_longest_length_are_read_at_once() -> None:
    """Each of them took minutes; the limit of a test's time catches it."""
    assert parse_lfp_line("IM,K,D,0,@V;d;f.tif;2," + " " * 1_000_000 + "x")
    assert dates.match_date_patterns("1/1/2020 10:00" + " " * 1_000_000 + "x", "MDY") is None
