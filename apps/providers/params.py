"""What a profile may set for its model, checked before it is kept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

VARIANTS = 8
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_\-]{0,23}$")]


class Options(BaseModel):
    """Options of a call. What is left out is left to the model."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_output_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    effort: Name | None = None
    dimensions: int | None = Field(default=None, ge=1, le=16_384)


class ProfileParams(Options):
    """Options of a profile, and named variants of them that a question may choose."""

    variants: dict[Name, Options] = Field(default_factory=dict, max_length=VARIANTS)


def checked(params: dict[str, Any] | None) -> dict[str, Any]:
    """The same params, without what is left out. ``ValueError`` in words, quoting no value."""
    try:
        found = ProfileParams.model_validate(params or {})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:60] or "params"
        raise ValueError(f"{place}: {first['msg']}") from None
    return found.model_dump(exclude_none=True, exclude_defaults=True)


def with_variant(params: dict[str, Any], variant: str) -> dict[str, Any]:
    """The options of a call. ``LookupError`` lists the variants when there is no such one."""
    variants: dict[str, dict[str, Any]] = params.get("variants", {})
    options = {name: value for name, value in params.items() if name != "variants"}
    if not variant:
        return options
    if variant not in variants:
        there = ", ".join(sorted(variants)) or "none"
        raise LookupError(f"There is no variant {variant[:24]!r} of this model; there is: {there}.")
    return options | variants[variant]
