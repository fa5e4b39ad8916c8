"""Bringing a file in: its progress, its report, and the stock that came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("worker", "faults")]
HEADER = (
    "listing_id,artist,title,label,catno,format,release_id,status,price,listed,comments,"
    "media_condition,sleeve_condition,accept_offer,external_id,weight,format_quantity,location,"
    "quantity"
)
ROW = (
    '{n},Kes Harrow (2),Night Ferry {n},Pier Nine,PN-{n},"12""",{n},For Sale,{price},'
    "2025-02-03 10:00:00,,Very Good Plus (VG+),Very Good (VG),N,,230,1,B-14,1"
)


def test_a_file_becomes_stock_and_its_bad_row_is_told(
    page: Page, signed_in: str, settings: Any, tmp_path: Path
):
    settings.MEDIA_ROOT = tmp_path / "uploads"
    rows = [ROW.format(n=n, price="6.50" if n != 7 else '"6,85 €"') for n in range(1, 41)]
    file = tmp_path / "inventory.csv"
    file.write_text("\n".join([HEADER, *rows]) + "\n")
    page.goto(f"{signed_in}/import/")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_label("Currency of its prices").fill("usd")
    page.get_by_role("button", name="Import").click()
    job = page.locator("#job")
    expect(job).to_contain_text("Done", timeout=20_000)
    expect(job).to_contain_text("40 read, 39 created")
    expect(job.get_by_role("heading", name="1 row to look at")).to_be_visible()
    expect(job.locator("tbody")).to_contain_text("6,85 €")
    page.get_by_role("link", name="To the stock").click()
    expect(page.locator(".foot")).to_contain_text("39 items")
    expect(page.locator("tbody tr").first).to_contain_text("Kes Harrow — Night Ferry 1")
