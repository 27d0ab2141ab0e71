// Keeps an open page in step: the server sends the ids that changed, and the page loads its own address again.
// A hidden tab lets go of its connection, because a browser has only a few of them for all tabs.

let source = null;
let waiting = 0;

function isConcerned(ids) {
  const watched = document.body.dataset.watches.split("\t").filter(Boolean);
  if (ids.includes("*")) return true;
  if (watched.length) return ids.some((id) => watched.includes(id));
  return document.body.dataset.view === "activity.html" || ids.some((id) => id !== "calls");
}

function isBusy() {
  const active = document.activeElement;
  const typing = active && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName) && document.querySelector("main").contains(active);
  const changed = [...document.querySelectorAll("main form[data-draft]")].some((form) => form.dataset.changed);
  return typing || changed || document.querySelector("dialog[open]");
}

// Replaces the content by what the same address shows now, and keeps place, focus and what is open.
export async function reload(address = location.href, { keep = true } = {}) {
  const answer = await fetch(address, { headers: { "X-Clew": "reload" }, credentials: "same-origin" });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.querySelector("main");
  const next = fresh.querySelector("main");
  if (!next) return;
  const opened = keep ? [...main.querySelectorAll("details")].map((each) => each.open) : [];
  const focused = document.activeElement?.id;
  main.replaceChildren(...next.childNodes);
  [...main.querySelectorAll("details")].forEach((each, place) => { if (opened[place]) each.open = true; });
  for (const name of ["state", "watches", "view"]) document.body.dataset[name] = fresh.body.dataset[name];
  document.title = fresh.title;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("clew:shown"));
}

function say(text) {
  document.getElementById("live").textContent = text;
}

function changed(event) {
  if (!isConcerned(event.data.split(" "))) return;
  clearTimeout(waiting);
  if (isBusy()) {
    say("Something changed; it is shown when you are done here.");
    waiting = setTimeout(() => changed(event), 1000);
    return;
  }
  waiting = setTimeout(() => reload().then(() => say("")), 60);
}

function open() {
  if (source || document.hidden || !document.body.dataset.state) return;
  const query = new URLSearchParams({ state: document.body.dataset.state });
  for (const path of document.body.dataset.watches.split("\t")) if (path.includes("/") || path.includes(".")) query.append("watch", path);
  source = new EventSource(`/live?${query}`);
  source.addEventListener("changed", changed);
  source.onerror = () => {
    // Opened anew with the state that is shown now, so that nothing is missed while the server was away.
    close();
    setTimeout(open, 1000);
  };
}

function close() {
  source?.close();
  source = null;
}

export function follow() {
  open();
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
}
