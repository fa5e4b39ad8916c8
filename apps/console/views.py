"""Home, the door, the theme, the guild of a session, health, and errors in words."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST, require_safe

from apps.audit.recorder import record
from apps.guilds import operations
from apps.guilds.acting import acting_or_none
from apps.guilds.middleware import SESSION_KEY
from apps.guilds.models import Member, User

from . import health as parts
from .context import ROOMS, THEME_COOKIE, THEMES
from .first_run import HIDDEN
from .forms import SignInForm
from .rights import held

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
YEAR = 365 * 24 * 3600


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The first room that the member may enter: Ask, for most."""
    member = acting_or_none(request)
    if member is None:
        raise PermissionDenied("Your account is not a member of any guild here.")
    allowed = held(member)
    for room in ROOMS:
        if room.opens(allowed):
            return redirect(room.name)
    raise PermissionDenied("You are a member of this guild, without any right in it yet.")


@never_cache
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    """E-mail and password."""
    onward = safe_next(request)
    if request.user.is_authenticated:
        return redirect(onward)
    form = SignInForm(request, data=request.POST or None)
    if request.method == "POST" and form.is_valid():
        _enter(request, form.get_user(), method="password")
        return redirect(onward)
    status = 422 if request.method == "POST" else 200
    return render(request, "console/login.html", {"form": form, "next": onward}, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        record("sign_out", guild_id=None, actor=f"user:{request.user.pk}")
    logout(request)
    return redirect("console:login")


@never_cache
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """A one-time link of development: a page on GET, the sign-in on POST."""
    if not settings.DEBUG:
        raise Http404
    if request.method != "POST":
        return render(request, "console/sign_in_link.html")
    user = operations.redeem_sign_in_link(token)
    if user is None:
        words = {"error": "It was used already, or it has expired."}
        return render(request, "console/sign_in_link.html", words, status=410)
    login(request, user, backend=MODEL_BACKEND)
    return redirect("console:home")


def _enter(request: HttpRequest, user: User, *, method: str) -> None:
    login(request, user, backend=MODEL_BACKEND)
    record("sign_in", guild_id=None, actor=f"user:{user.pk}", method=method)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the theme in a cookie; the next page carries it on its first byte."""
    chosen = request.POST.get("theme", "")
    response = redirect(safe_next(request))
    if chosen in dict(THEMES):
        response.set_cookie(
            THEME_COOKIE, chosen, max_age=YEAR, samesite="Lax", httponly=True, secure=settings.HTTPS
        )
    return response


@require_POST
@login_required
def switch_guild(request: HttpRequest) -> HttpResponse:
    """Act in another guild that this user is a member of."""
    wanted = request.POST.get("guild", "")
    members = Member.objects.filter(user_id=request.user.pk or 0, is_active=True)
    if not (
        wanted.isdecimal() and len(wanted) < 19 and members.filter(guild_id=int(wanted)).exists()
    ):
        raise Http404
    request.session[SESSION_KEY] = int(wanted)
    return redirect("console:home")


@require_POST
@login_required
def hide_guide(request: HttpRequest) -> HttpResponse:
    request.session[HIDDEN] = True
    return redirect("chat:new")


@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Booleans only. 503 when pages cannot be served; a missing worker is told, not fatal."""
    state = {"database": parts.database(), "redis": parts.wake_ups()}
    serving = all(state.values())
    state["worker"] = serving and parts.worker()
    return JsonResponse({"ok": serving, **state}, status=200 if serving else 503)


def safe_next(request: HttpRequest) -> str:
    """Where to go on to: an address of this house, else home."""
    onward = request.POST.get("next") or request.GET.get("next") or ""
    here = {request.get_host()}
    if url_has_allowed_host_and_scheme(onward, here, require_https=request.is_secure()):
        return onward
    return "/"
