"""The text that holds the place of a cursor while a page is cut."""

import random
import string
from itertools import product

from clew.operation.paging import WIDEST, Cursors
from clew.text.tokens import estimate_tokens

SIGNS = string.ascii_letters + string.digits + "-_"


# Verifies: REQ-d00011-A
def test_no_cursor_takes_more_tokens_than_the_text_that_holds_its_place() -> None:
    cursors, chance = Cursors(b"key"), random.Random(7)
    issued = [cursors.issue("find", {"number": number}, "state", number) for number in range(2_000)]
    drawn = ["".join(chance.choices(SIGNS, k=len(WIDEST))) for _ in range(2_000)]
    assert {len(each) for each in issued} == {len(WIDEST)}
    assert max(map(estimate_tokens, (*issued, *drawn, "0-" * 20, "a0" * 20, "aA" * 20))) <= estimate_tokens(WIDEST)


# Verifies: REQ-d00011-A
def test_no_text_of_the_signs_of_a_cursor_takes_more_tokens_in_an_answer() -> None:
    # A sign of each kind that the estimate tells apart, in every order that comes again after a few.
    repeated = ("".join(signs) * len(WIDEST) for size in range(1, 7) for signs in product("aA0-", repeat=size))
    texts = [each[: len(WIDEST)] for each in repeated]
    assert max(estimate_tokens(f'{{"next_cursor":"{each}"}}') for each in (*texts, WIDEST)) == estimate_tokens(
        f'{{"next_cursor":"{WIDEST}"}}'
    )
