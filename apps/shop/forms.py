"""Forms of the shop: the stock filter, and bringing a file in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from pydantic import ValidationError as ArgumentsWrong

from apps.core.money import PriceError, check_currency
from apps.shop.arguments import StockSearch

ANY = ("", "Any")
FORMATS = [ANY, ("vinyl", "Vinyl"), *[(name, name) for name in ("LP", '12"', '10"', '7"')]]
FORMATS += [("CD", "CD"), ("Cassette", "Cassette")]
GRADES = [ANY, *[(grade, grade) for grade in ("M", "NM", "VG+", "VG", "G+", "G")]]
AGES = [ANY, ("30", "30 days"), ("90", "90 days"), ("180", "half a year"), ("365", "a year")]
KINDS = [
    ("import_stock", "Stock (inventory CSV)"),
    ("import_orders", "Orders (CSV)"),
    ("import_wants", "Want list (CSV)"),
    ("import_collection", "Collection (CSV)"),
    ("import_releases", "Releases (XML dump, .xml or .xml.gz)"),
]
PRICED = frozenset({"import_stock", "import_orders"})
ANY_NAME = forms.TextInput(attrs={"placeholder": "Any", "autocomplete": "off"})
PRICE = {"inputmode": "decimal", "autocomplete": "off", "size": "6"}


class StockFilter(forms.Form):
    """The stock list's filters, as they stand in its address; they mean what the tool's mean."""

    q = forms.CharField(
        required=False,
        max_length=200,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": "Artist, title, label or catalogue number"}
        ),
    )
    genre = forms.CharField(required=False, max_length=100, widget=ANY_NAME)
    style = forms.CharField(required=False, max_length=100, widget=ANY_NAME)
    format = forms.CharField(required=False, max_length=100, widget=forms.Select(choices=FORMATS))
    grade_min = forms.CharField(required=False, max_length=100, widget=forms.Select(choices=GRADES))
    price_min = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=Decimal(10**9),
        label="Price from",
        widget=forms.TextInput(attrs=PRICE),
        error_messages={"invalid": "A price is a bare number such as 6.85."},
    )
    price_max = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=Decimal(10**9),
        label="Price under",
        widget=forms.TextInput(attrs=PRICE),
        error_messages={"invalid": "A price is a bare number such as 6.85."},
    )
    include_max = forms.BooleanField(required=False)
    exclude_min = forms.BooleanField(required=False)
    not_sold_days = forms.IntegerField(
        required=False, min_value=1, max_value=36500, widget=forms.Select(choices=AGES)
    )
    in_stock = forms.CharField(
        required=False, widget=forms.Select(choices=[("", "for sale"), ("no", "every status")])
    )
    sort = forms.CharField(required=False, max_length=20)

    def __init__(self, data: Any) -> None:
        super().__init__(data, auto_id=False)
        self._keep_written("not_sold_days", AGES)
        self._keep_written("format", FORMATS)
        self._keep_written("grade_min", GRADES)

    def _keep_written(self, name: str, choices: list[tuple[str, str]]) -> None:
        """A value that came by a link stays chosen even when the list does not offer it."""
        written = str(self.data.get(name, ""))[:100]
        if written and written not in dict(choices):
            shown = f"{written} days" if name == "not_sold_days" else written
            widget = self.fields[name].widget
            widget.choices = [*choices, (written, shown)]

    def arguments(self) -> StockSearch:
        """The filter as the tool's own arguments; what is not valid does not restrict."""
        values = {name: value for name, value in self.cleaned_data.items() if value}
        values["in_stock"] = self.cleaned_data.get("in_stock") != "no"
        try:
            return StockSearch.model_validate(values)
        except ArgumentsWrong:
            values.pop("sort", None)
            return StockSearch.model_validate(values)

    @property
    def filtered(self) -> bool:
        """Whether anything beyond the default is asked for."""
        return any(self.data.get(name) for name in self.fields if name != "sort")


class ImportForm(forms.Form):
    """A file, what it holds, and in which currency."""

    kind = forms.ChoiceField(choices=KINDS)
    file = forms.FileField(
        help_text="Columns are found by name, in any order; UTF-8.",
        error_messages={
            "required": "Choose a file.",
            "empty": "The file is empty. Export it again and send the new one.",
        },
    )
    currency = forms.CharField(
        required=False,
        max_length=3,
        widget=forms.TextInput(attrs={"placeholder": "USD", "autocapitalize": "characters"}),
        help_text="For stock and orders. An empty shop takes the currency of its first file.",
    )
    rate = forms.DecimalField(
        required=False,
        min_value=Decimal("0.000001"),
        max_value=Decimal(1_000_000),
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text="Only when the file is in another currency than the shop: "
        "what one unit of the file's is worth in the shop's.",
        error_messages={"invalid": "A rate is a bare number such as 1.08."},
    )
    dry_run = forms.BooleanField(required=False)
    replace_demo = forms.BooleanField(required=False)

    def __init__(self, *args: Any, is_demo: bool, shop_currency: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_demo = is_demo
        self.fields["currency"].initial = shop_currency

    def clean_currency(self) -> str:
        text = str(self.cleaned_data["currency"])
        if not text:
            return ""
        try:
            return check_currency(text)
        except PriceError as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        unnamed = not cleaned.get("currency") and "currency" not in self.errors
        if cleaned.get("kind") in PRICED and unnamed:
            self.add_error("currency", "Name the currency of the prices, such as USD.")
        if self.is_demo and not cleaned.get("replace_demo") and not cleaned.get("dry_run"):
            words = "This is a demo shop. Tick the box to delete it first, or only check the file."
            self.add_error("replace_demo", words)
        self._check_ending(cleaned.get("kind", ""), cleaned.get("file"))
        return cleaned

    def _check_ending(self, kind: str, file: UploadedFile | None) -> None:
        """The kind of file by its name, so that a wrong one is told before it is read."""
        if file is None or not kind:
            return
        name = (file.name or "").lower()
        endings = (".xml", ".xml.gz", ".gz") if kind == "import_releases" else (".csv", ".txt")
        if not name.endswith(endings):
            allowed = " or ".join(endings)
            self.add_error(
                "file", f"{name[-60:]} is not a {allowed} file. Choose another file or kind."
            )
