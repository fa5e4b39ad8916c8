"""Names in the stock filter are read as the tool reads them, on the reader's own connection."""

from __future__ import annotations

import pytest

from tests.shop_rows import make_shop

pytestmark = pytest.mark.usefixtures("own_db")


def test_how_a_word_was_read_is_told_and_an_unknown_one_finds_nothing(client, ada, member):
    make_shop(member.guild)
    client.force_login(ada)
    assert "was read as Drum n Bass" in client.get("/stock/?style=dnb").content.decode()
    body = client.get("/stock/?style=polka").content.decode()
    assert "has the style" in body
    assert "No items fit" in body
