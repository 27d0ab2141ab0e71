"""Dates in words, as people write them."""

import re

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTH_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
MONTH = re.compile(rf"\b(?!may\b)(?i:{MONTH_NAMES})\b")
"""A month, in full or by three letters. "may" is one only with a capital letter: it is a verb far more often."""
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
SAYS_WHEN = re.compile(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|recently|soon|lately|(?:last|next|this|past|since|until|every) "
    rf"(?:night|morning|evening|day|week|weekend|month|year|summer|winter|spring|fall|autumn|(?!may)(?:{MONTH_NAMES})|"
    rf"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    rf"(?:few|couple of|two|three|four|five|six|seven|ten|\d+) (?:days|weeks|months|years)|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
