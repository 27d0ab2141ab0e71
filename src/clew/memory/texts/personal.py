"""Numbers of persons: payment cards and social security numbers, taken out of texts as keys are.

A card has the beginning and the length of an issuer and a right check digit. A social security number is written with
hyphens, and its parts are ones that are given out.
"""

import os
import re
from collections.abc import Iterator
from functools import cache

VARIABLE = "CLEW_PERSONAL_NUMBERS"
"""With the value `keep`, they stay. The user sets it; no project may."""
_CARD = r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)"
_ISSUERS = (
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14}"
)
_SOCIAL = r"(?<![\w.-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)"
_compiled = cache(re.compile)


def personal_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """The spans of such numbers, with their kind."""
    if os.environ.get(VARIABLE) == "keep":
        return
    for match in _compiled(_CARD).finditer(text):
        digits = re.sub(r"[ -]", "", match[0])
        if _compiled(_ISSUERS).fullmatch(digits) and _is_checked(digits):
            yield match.start(), match.end(), "payment_card"
    for match in _compiled(_SOCIAL).finditer(text):
        yield match.start(), match.end(), "social_security_number"


def _is_checked(digits: str) -> bool:
    """True if the last digit is the check digit of the others (Luhn)."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 if n > 9 else n for n in doubled)) % 10 == 0
