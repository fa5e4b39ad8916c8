"""Keys on a page: the list, one key with its live test, adding, replacing and revoking.

A key comes in by POST and never goes out: forms drop it before they are shown again, pages
know its fingerprint alone, and a worker gets the row's id.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.core import clock
from apps.core.sealing import SealingError
from apps.guilds.acting import acting
from apps.guilds.policy import requires

from . import catalog, operations, tasks
from .forms import CredentialForm, SecretForm, refuse
from .models import Credential, ModelProfile
from .rights import TEST, WRITE, May, opens, rights_of
from .showing import Shown

# A message waits half a minute for a worker, and a test takes ten seconds.
LATE = timedelta(seconds=42)
UNSENT = "Not tested: the broker cannot be reached. Test again later."
ROOM = {"heading": "Providers", "tab": "credentials"}


@require_safe
@opens
def credentials(request: HttpRequest, *, may: May) -> HttpResponse:
    """Keys of the guild with their health; those who may add one find the form beside it."""
    return _list(request, may, _add_form() if may["write"] else None)


@require_POST
@requires(WRITE)
@sensitive_post_parameters()
@sensitive_variables("data")
def add(request: HttpRequest) -> HttpResponse:
    """Seal a key and have it tested. A draft is a row like any other, untested until then."""
    form = _add_form(request.POST)
    if form.is_valid():
        data, member = form.cleaned_data, acting(request)
        try:
            made = operations.add_credential(
                guild=member.guild,
                provider=data["provider"],
                label=data["label"],
                secret=data["key"],
                base_url=data["base_url"],
                actor=member,
            )
        except (operations.ProvidersError, SealingError) as error:
            refuse(form, error)
        else:
            return _sealed(request, made)
    form.forget()
    return _list(request, rights_of(request), form, status=422)


@require_safe
@opens
def credential(request: HttpRequest, credential_id: UUID, *, may: May) -> HttpResponse:
    """One key: how it does, who added it, and what it answers."""
    found = _own(request, credential_id)
    context = ROOM | _health(found, may, request.GET.get("asked", ""))
    return render(request, "providers/credential.html", context)


@require_safe
@opens
def health(request: HttpRequest, credential_id: UUID, *, may: May) -> HttpResponse:
    """The state of a key alone; its page asks once a second while a test runs."""
    context = _health(_own(request, credential_id), may, request.GET.get("asked", ""))
    return render(request, "providers/_health.html", context)


@require_POST
@requires(TEST)
def test(request: HttpRequest, credential_id: UUID) -> HttpResponse:
    """Have a worker test a key; the page watches the row."""
    found = _usable(request, credential_id)
    asked = _ask(found)
    if not request.htmx:  # type: ignore[attr-defined]
        return _watch(request, found, asked)
    context = _health(found, rights_of(request), asked) | {"unsent": "" if asked else UNSENT}
    return render(request, "providers/_health.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(WRITE)
@sensitive_post_parameters()
@sensitive_variables("data")
def replace(request: HttpRequest, credential_id: UUID) -> HttpResponse:
    """A new secret for the same row, and a new address where the provider is custom."""
    found = _usable(request, credential_id)
    form = _replace_form(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        data = form.cleaned_data
        try:
            operations.replace_secret(
                found, data["key"], base_url=data.get("base_url") or None, actor=acting(request)
            )
        except (operations.ProvidersError, SealingError) as error:
            refuse(form, error)
        else:
            return _sealed(request, found)
    if form.is_bound:
        form.forget()
    context = ROOM | {"form": form}
    status = 422 if form.is_bound else 200
    return render(
        request, "providers/replace.html", context | {"credential": Shown(found)}, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(WRITE)
def revoke(request: HttpRequest, credential_id: UUID) -> HttpResponse:
    """Wipe a key for good, after one question that tells what stops with it."""
    found = _usable(request, credential_id)
    if request.method == "POST":
        operations.revoke(found, actor=acting(request))
        messages.success(request, f"“{found.label}” is revoked; its sealed key is wiped.")
        return redirect("providers:credentials")
    context = ROOM | {"credential": Shown(found), "profiles": _profiles(found)}
    return render(request, "providers/revoke.html", context)


def _list(
    request: HttpRequest, may: May, form: CredentialForm | None, status: int = 200
) -> HttpResponse:
    rows = Credential.objects.visible_to(acting(request)).live().select_related("created_by")
    rows = rows.defer("listed_models")
    shown = [Shown(row) for row in rows.order_by("-created_at", "pk")]
    bad = [row for row in shown if row.state.kind == "bad"]
    context: dict[str, Any] = ROOM | {
        "credentials": shown,
        "worst": next(iter(bad), None),
        "form": form,
    }
    context |= {"older": sum(row.is_older for row in shown), "may": may}
    return render(request, "providers/credentials.html", context, status=status)


def _sealed(request: HttpRequest, found: Credential) -> HttpResponse:
    """To the page of a new secret, tested at once where the member may test."""
    if not rights_of(request)["test"]:
        return redirect("providers:credential", found.pk)
    return _watch(request, found, _ask(found))


def _ask(found: Credential) -> str:
    """Wake a worker for a key; since when it is asked, empty when no broker took the message."""
    asked = clock.now().isoformat()
    return asked if tasks.ask_for_test(found.pk) else ""


def _watch(request: HttpRequest, found: Credential, asked: str) -> HttpResponse:
    """To the page of a key, which watches the test that was asked for."""
    address = reverse("providers:credential", args=[found.pk])
    if not asked:
        messages.error(request, UNSENT)
        return redirect(address)
    return redirect(f"{address}?{urlencode({'asked': asked})}")


def _health(found: Credential, may: May, asked: str) -> dict[str, Any]:
    """A test runs from when it was asked for until the row was tested after that."""
    since = _instant(asked)
    waiting = since is not None and (found.tested_at is None or found.tested_at < since)
    late = since is not None and clock.now() - since > LATE
    context = {"credential": Shown(found), "profiles": _profiles(found), "may": may, "asked": asked}
    return context | {"testing": waiting and not late, "late": waiting and late}


def _instant(text: str) -> datetime | None:
    """An aware instant of an address; None for anything else, the future included."""
    try:
        found = parse_datetime(text[:40])
    except ValueError:
        return None
    return found if found and found.tzinfo and found <= clock.now() else None


def _own(request: HttpRequest, credential_id: UUID) -> Credential:
    rows = Credential.objects.visible_to(acting(request)).select_related("created_by", "updated_by")
    found: Credential = get_object_or_404(rows, pk=credential_id)
    return found


def _usable(request: HttpRequest, credential_id: UUID) -> Credential:
    """A key of the guild that is not revoked; 404 for any other."""
    rows = Credential.objects.visible_to(acting(request)).live()
    found: Credential = get_object_or_404(rows, pk=credential_id)
    return found


def _add_form(data: Any = None) -> CredentialForm:
    providers = [(each.name, each.label) for each in catalog.PROVIDERS.values()]
    return CredentialForm(data, providers=providers)


def _replace_form(found: Credential, data: Any) -> SecretForm:
    custom = catalog.get(found.provider).takes_base_url
    return SecretForm(data, initial={"base_url": found.base_url}, custom=custom)


def _profiles(found: Credential) -> list[ModelProfile]:
    """What a key answers now."""
    return list(found.profiles.filter(enabled=True).order_by("purpose"))
