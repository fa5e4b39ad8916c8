"""Which model serves which purpose, and whose key may be used, on pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.guilds.acting import acting, guild_of
from apps.guilds.models import Guild
from apps.guilds.policy import decide, require, requires

from . import catalog, operations, resolver, tasks
from .forms import ModelForm, refuse
from .models import Credential, ModelProfile, Purpose
from .resolver import operator_label
from .rights import SELECT, TEST, WRITE, May, opens
from .showing import Shown

WORDS = {
    "chat": "Questions in the Ask panel",
    "reasoning": "Questions that compare, explain or forecast",
    "embedding": "Search by meaning",
    "routing": "Small decisions about where a question goes",
}
CLEARED = {
    "chat": "the operator’s model answers where the policy allows it, else the house model",
    "reasoning": "the chat model answers",
    "embedding": "nothing is searched by meaning",
    "routing": "the chat model decides",
}
ROOM = {"heading": "Providers", "tab": "models"}


@dataclass(frozen=True)
class Choice:
    """One purpose with the model that serves it; ``instead`` says what does without one."""

    purpose: str
    profile: ModelProfile | None = None
    instead: str = ""

    @property
    def label(self) -> str:
        return str(Purpose(self.purpose).label)

    @property
    def words(self) -> str:
        return WORDS[self.purpose]

    @property
    def cleared(self) -> str:
        return CLEARED[self.purpose]

    @property
    def key(self) -> Shown | None:
        """The key of the chosen model, with how it does."""
        return Shown(self.profile.credential) if self.profile else None

    @property
    def stopped(self) -> str:
        """Why the chosen model does not answer; empty when it may."""
        if self.profile is None or (self.profile.enabled and self.profile.credential.is_usable):
            return ""
        return "key revoked" if not self.profile.enabled else "key refused"


@require_safe
@opens
def models(request: HttpRequest, *, may: May) -> HttpResponse:
    """A row for each purpose: its model and key, or what answers without one."""
    guild = guild_of(request)
    context = ROOM | {"choices": _choices(guild), "usable": _keys(guild).exists(), "may": may}
    return render(request, "providers/models.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(SELECT)
def model(request: HttpRequest, purpose: str) -> HttpResponse:
    """Choose a key and a model for one purpose."""
    choice = _choice(guild_of(request), purpose)
    keys = _fitting(guild_of(request), purpose)
    form = _form(request, choice, keys)
    if form.is_valid() and _select(request, choice, keys, form):
        chosen = form.cleaned_data["model"]
        messages.success(request, f"{choice.label} is answered by {chosen} from now on.")
        if decide(acting(request), TEST):
            tasks.ask_for_test(keys[form.cleaned_data["credential"]].row.pk)
        return redirect("providers:models")
    if form.is_bound:
        form.forget()
    context = ROOM | {"choice": choice, "form": form, "suggestions": _suggestions(keys, purpose)}
    status = 422 if form.is_bound else 200
    return render(request, "providers/model.html", context, status=status)


@require_POST
@requires(SELECT)
def clear(request: HttpRequest, purpose: str) -> HttpResponse:
    """Let nothing of the guild's serve a purpose any more."""
    choice = _choice(guild_of(request), purpose)
    operations.clear_model(guild_of(request), purpose, acting(request))
    messages.success(request, f"No model of this guild is chosen for {choice.label} any more.")
    return redirect("providers:models")


@require_http_methods(["GET", "HEAD", "POST"])
@opens
def policy(request: HttpRequest, *, may: May) -> HttpResponse:
    """Whether the operator's key may serve this guild; changed by those who may add keys."""
    guild = guild_of(request)
    if request.method == "POST":
        require(acting(request), WRITE)
        allowed = request.POST.get("allow") == "yes"
        operations.set_policy(guild, operator_credential_allowed=allowed, actor=acting(request))
        return redirect("providers:policy")
    allowed = operations.policy_of(guild).operator_credential_allowed
    context = ROOM | {"tab": "policy", "allowed": allowed, "may": may, "operator": operator_label()}
    return render(request, "providers/policy.html", context)


def _chosen(guild: Guild) -> dict[str, ModelProfile]:
    """What was chosen, by purpose. A disabled profile is still a choice: its key is revoked."""
    rows = ModelProfile.objects.of(f"guild:{guild.pk}")
    rows = rows.select_related("credential", "selected_by").order_by("enabled", "updated_at")
    return {row.purpose: row for row in rows}


def _choices(guild: Guild) -> list[Choice]:
    chosen = _chosen(guild)
    return [
        Choice(purpose, chosen[purpose]) if purpose in chosen else _unchosen(guild, purpose)
        for purpose in Purpose.values
    ]


def _unchosen(guild: Guild, purpose: str) -> Choice:
    """A purpose without a choice, with what answers now, as the next call would find it."""
    try:
        return Choice(purpose, instead=resolver.resolve(guild, purpose).label)
    except operations.ProvidersError:
        by_chat = purpose != Purpose.EMBEDDING
        return Choice(purpose, instead="nothing, see Chat" if by_chat else "nothing")


def _choice(guild: Guild, purpose: str) -> Choice:
    if purpose not in Purpose.values:
        raise Http404(f"There is no purpose {purpose[:20]}.")
    return Choice(purpose, _chosen(guild).get(purpose))


def _keys(guild: Guild) -> Any:
    """Keys that may be chosen: the guild's own that were not refused or revoked."""
    rows = Credential.objects.of(f"guild:{guild.pk}").filter(status=Credential.Status.ACTIVE)
    return rows.order_by("label", "pk")


def _fitting(guild: Guild, purpose: str) -> dict[str, Shown]:
    """Keys whose provider can serve the purpose, by id."""
    shown = [Shown(row) for row in _keys(guild)]
    embeds = purpose == Purpose.EMBEDDING
    return {
        str(key.pk): key
        for key in shown
        if not embeds or catalog.get(key.provider).capabilities.embeddings
    }


def _form(request: HttpRequest, choice: Choice, keys: dict[str, Shown]) -> ModelForm:
    profile = choice.profile
    initial = {"credential": request.GET.get("key", ""), "model": ""}
    if profile:
        initial = {"credential": str(profile.credential_id), "model": profile.model}
    choices = [(pk, f"{key.label} ({key.provider_name})") for pk, key in keys.items()]
    if initial["credential"] not in keys and len(keys) != 1:
        choices.insert(0, ("", "Choose a key"))
    data = request.POST if request.method == "POST" else None
    return ModelForm(data, initial=initial, credentials=choices)


def _select(request: HttpRequest, choice: Choice, keys: dict[str, Shown], form: ModelForm) -> bool:
    """Whether the choice was kept; its refusal is told at the field that it is about."""
    data, before, member = form.cleaned_data, choice.profile, acting(request)
    same = before is not None and before.model == data["model"].strip()
    try:
        operations.select_model(
            guild=member.guild,
            purpose=choice.purpose,
            credential=keys[data["credential"]].row,
            model=data["model"],
            # Options belong to a model: another one may refuse them.
            params=before.params if before and same else None,
            actor=member,
        )
    except operations.ProvidersError as error:
        refuse(form, error)
        return False
    return True


def _suggestions(keys: dict[str, Shown], purpose: str) -> list[tuple[str, str]]:
    """Names to begin with and those that each key's last test listed; any other is as good."""
    found: dict[str, str] = {}
    for key in keys.values():
        known = catalog.get(key.provider).suggestions
        for name in (*known.get(cast(catalog.Purpose, purpose), ()), *key.listed_models):
            found.setdefault(name, key.label)
    return list(found.items())
