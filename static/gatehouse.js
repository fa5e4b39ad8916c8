// What htmx cannot do: keys, drafts, the stream's manners, copying, drawers. Pages work without it.
(() => {
  "use strict";
  const $ = (query, root = document) => root.querySelector(query);
  const $$ = (query, root = document) => [...root.querySelectorAll(query)];
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { value ? localStorage.setItem(key, value) : localStorage.removeItem(key); } catch { /* private mode */ } },
  };

  function say(words) { const live = $("#live"); if (live) live.textContent = words; }

  function toast(words, bad = false) {
    const box = $("#toasts"), made = $("#toast-template").content.firstElementChild.cloneNode(true);
    $("span", made).textContent = words;
    if (bad) $("use", made).setAttribute("href", "#i-bad");
    box.replaceChildren(made);
    setTimeout(() => made.remove(), 10000);
  }

  // Composer: Enter sends, the draft of each thread survives a reload, a sent question leaves it.
  const area = () => $("#question");
  const draftKey = () => { const form = $("#composer"); return form && `draft:${form.dataset.draft}`; };
  const atWork = () => Boolean($(".run[data-live]"));

  // A first question leaves by a whole page: its draft goes once the thread's page has come.
  function forgetSent() {
    const form = $("#composer"), key = store.get("sent");
    if (!form || !key) return;
    if (form.dataset.draft !== "new") store.set(key, "");
    store.set("sent", "");
  }
  function restoreDraft() {
    const box = area();
    if (!box || box.value || "kept" in box.dataset) return;
    box.value = store.get(draftKey()) || "";
  }
  document.addEventListener("input", (event) => {
    if (event.target.id === "question") store.set(draftKey(), event.target.value);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "question" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    const send = $("[data-send]");
    if (send && !send.disabled && event.target.value.trim()) event.target.form.requestSubmit(send);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-ask]") || event.target.hasAttribute("hx-post")) return;
    if (event.target.id === "composer") store.set("sent", draftKey());
    // After this turn, so that the pressed button's value is still sent.
    setTimeout(() => $$("[data-ask] button").forEach((button) => { button.disabled = true; }));
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.target;
    if (!form.matches("[data-ask], [action$='/retry/']")) return;
    if (atWork()) { event.preventDefault(); toast("One answer at a time: stop it or wait for it."); return; }
    $$("[data-send], .chip").forEach((button) => { button.disabled = true; });
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.target, { successful, xhr } = event.detail;
    $$("[data-send], .chip").forEach((button) => { button.disabled = false; });
    if (!form.matches("[data-ask]") || signedOut(xhr)) return;
    if (successful && form.id === "composer") sent();
    if (!successful && xhr.status !== 422) toast(reason(xhr), true);
  });
  function sent() {
    const wrong = $("#ask-error"), box = area();
    if (wrong) wrong.remove();
    box.removeAttribute("aria-invalid");
    delete box.dataset.kept;
    box.value = "";
    store.set(draftKey(), "");
  }
  // A request that ended at the door: go there, and come back to the draft.
  const signedOut = (xhr) => Boolean(xhr && xhr.responseURL && new URL(xhr.responseURL).pathname === "/sign-in/");
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!signedOut(event.detail.xhr)) return;
    event.detail.shouldSwap = false;
    location.href = `/sign-in/?next=${encodeURIComponent(location.pathname)}`;
  });
  function reason(xhr) {
    if (xhr.status === 403) return "Not sent: you may not ask here, or this page is too old. Your question is kept; reload and send it again.";
    if (xhr.status === 400 || xhr.status === 413) return "Not sent: it is too long. 100,000 characters is the most; your question is kept.";
    return xhr.status ? `Not sent: the server answered ${xhr.status}. Your question is kept.` : "Not sent: the server cannot be reached. Your question is kept.";
  }

  // The stream: open only while its run is live and this tab is visible; resume after the last event.
  let atEnd = true;
  const talk = () => $(".talk");
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    const line = event.target, message = event.detail;
    if (!line.classList || !line.classList.contains("delta")) return;
    if (message.type === "clear") { event.preventDefault(); line.textContent = ""; mark(line, message.lastEventId); }
    if (message.type === "denied") { event.preventDefault(); giveUp(line.closest(".run")); }
  });
  function giveUp(run) {
    htmx.trigger(run, "htmx:beforeCleanupElement");
    run.removeAttribute("data-live");
    toast("You are signed out, or may no longer follow this answer. Reload the page.", true);
  }
  document.addEventListener("htmx:sseMessage", (event) => mark(event.target, event.detail && event.detail.lastEventId));
  // A lost connection is made again where it stood, not where the page began.
  function mark(element, id) {
    const run = element.closest && element.closest("[sse-connect]");
    if (run && id) run.setAttribute("sse-connect", `${run.getAttribute("sse-connect").split("?")[0]}?after=${encodeURIComponent(id)}`);
  }
  function followVisibility() {
    for (const run of $$(".run[data-live]")) {
      if (document.hidden) htmx.trigger(run, "htmx:beforeCleanupElement");
      // Opens the stream again, and has everything that listens to it listen to the new one.
      else for (const part of [run, ...$$("[sse-swap], [hx-trigger^='sse:']", run)]) htmx.trigger(part, "htmx:afterProcessNode");
    }
  }
  document.addEventListener("visibilitychange", followVisibility);
  document.addEventListener("htmx:beforeSwap", () => {
    const box = talk();
    atEnd = !box || Math.abs(box.scrollTop) < 80;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    restoreDraft();
    if (event.detail.target && event.detail.target.id === "runs") { const empty = $("#no-runs"); if (empty) empty.remove(); }
    announce(event);
    if (atEnd) settle();
  });
  // The end of the talk; or the beginning of the last answer where that is taller than the window.
  function settle() {
    const box = talk(), last = $$(".run").pop();
    if (!box) return;
    if (last && !last.matches("[data-live]") && last.offsetHeight > box.clientHeight) last.scrollIntoView({ block: "start" });
    else box.scrollTop = 0;
  }
  function announce(event) {
    const run = event.detail.elt && event.detail.elt.closest && event.detail.elt.closest(".run");
    if (event.detail.target && event.detail.target.id === "runs") say("Question sent. The answer is being written.");
    else if (run && !run.matches("[data-live]") && event.detail.target.matches(".run")) say(`Answer finished: ${run.dataset.status}.`);
  }

  // Copying: to the clipboard where the browser allows it, else the link downloads.
  async function copy(link) {
    const text = fetch(link.href, { headers: { "X-Requested-With": "copy" } }).then(async (answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return new Blob([await answer.text()], { type: "text/plain" });
    });
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })]);
    const rows = $$("tbody tr", link.closest("figure") || document).length;
    toast(`Copied ${rows} row${rows === 1 ? "" : "s"} as ${link.dataset.copy}.`);
  }

  // A drawer is a page of its own; with a script it opens beside this one.
  let opener = null;
  async function openDrawer(link) {
    opener = link;
    $$("[data-drawer][aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    await htmx.ajax("GET", link.href, { target: "#drawer", swap: "outerHTML", headers: { "X-Drawer": "1" } });
    link.setAttribute("aria-current", "true");
    const title = $("#drawer h2");
    if (title) { title.tabIndex = -1; title.focus({ preventScroll: true }); }
  }
  function closeDrawer() {
    const drawer = $("#drawer");
    if (!drawer || drawer.hidden) return false;
    const none = document.createElement("section");
    none.id = "drawer"; none.hidden = true;
    drawer.replaceWith(none);
    $$("[data-drawer][aria-current]").forEach((link) => link.removeAttribute("aria-current"));
    if (opener && opener.isConnected) opener.focus();
    return true;
  }

  document.addEventListener("click", (event) => {
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
    const link = event.target.closest && event.target.closest("a");
    if (event.target.closest("[data-dismiss]")) event.target.closest(".toast").remove();
    if (!link || !plain) return;
    if (link.matches("[data-copy]") && navigator.clipboard && window.ClipboardItem) {
      event.preventDefault();
      copy(link).catch(() => { location.href = link.href; });
    } else if (link.matches("[data-drawer], .answer a.cite[href^='/'], .answer a.fig[href^='/']") && $("#drawer")) {
      event.preventDefault();
      openDrawer(link).catch(() => { location.href = link.href; });
    } else if (link.matches("[data-close-drawer]") && closeDrawer()) event.preventDefault();
  });

  // Keys, unless somebody types or has turned them off.
  const typing = (element) => element.closest("input, textarea, select, [contenteditable]");
  function walk(step) {
    const links = $$("tbody th a, .thread").filter((link) => link.offsetParent), at = links.indexOf(document.activeElement);
    const next = links[Math.max(0, Math.min(links.length - 1, at + step))];
    if (next) next.focus();
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !$(":popover-open") && closeDrawer()) return;
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || store.get("keys") === "off") return;
    if (event.key === "/" && area()) { event.preventDefault(); area().focus(); }
    else if (event.key === "/" && $("[type=search]")) { event.preventDefault(); $("[type=search]").focus(); }
    else if (event.key === "?") $("#keys").togglePopover();
    else if (event.key === "j") walk(1);
    else if (event.key === "k") walk(-1);
  });

  // Theme at once, then as a cookie on the server.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-theme-form]")) return;
    event.preventDefault();
    const theme = event.submitter.value, body = new FormData(event.target);
    body.set("theme", theme);
    fetch(event.target.action, { method: "POST", body, redirect: "manual" });
    document.documentElement.dataset.theme = theme;
    $$("button", event.target).forEach((button) => button.setAttribute("aria-pressed", String(button.value === theme)));
  });

  document.addEventListener("DOMContentLoaded", () => {
    forgetSent();
    restoreDraft();
    if (!location.hash) settle();
    if (document.hidden) followVisibility();
    const keys = $("[data-keys-switch]"), box = keys && $("input", keys);
    if (!box) return;
    keys.hidden = false;
    box.checked = store.get("keys") !== "off";
    box.addEventListener("change", () => store.set("keys", box.checked ? "" : "off"));
  });
})();
