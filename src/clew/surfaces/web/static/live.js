// Keeps an open page in step: the server sends the ids that changed, and the page loads its own address again.
// A browser has only a few connections for all tabs: one tab holds the stream, and tells the others what it hears.
import { answers, ask, say } from "./server.js";

const channel = new BroadcastChannel("clew");
const watched = new Set();
let leads = false;
let source = null;
let waiting = 0;
let asked = 0;

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

// What has the focus, in words that find it again in another version of the page.
function nameOf(element) {
  return [element.tagName, element.getAttribute("href") ?? element.name ?? "", element.textContent].join("\t");
}

const FOCUSABLE = "a[href], button, summary, input, select, textarea, [tabindex]";

function focusOf(main) {
  const active = document.activeElement;
  if (!active || !main.contains(active)) return () => {};
  const { id } = active;
  const name = nameOf(active);
  const place = [...main.querySelectorAll(FOCUSABLE)].filter((each) => nameOf(each) === name).indexOf(active);
  return () => {
    const same = () => [...main.querySelectorAll(FOCUSABLE)].filter((each) => nameOf(each) === name);
    const again = (id && document.getElementById(id)) || same().at(place) || same().at(-1);
    again?.focus({ preventScroll: true });
  };
}

// Replaces the content by another version of it, and keeps the place, the focus, what is open and what was just said.
function show(fresh) {
  const main = document.querySelector("main");
  const next = fresh.querySelector("main");
  const opened = [...main.querySelectorAll("details")].map((each) => each.open);
  const said = [...main.querySelectorAll(":scope > .said")];
  const focus = focusOf(main);
  main.replaceChildren(...said, ...next.childNodes);
  [...main.querySelectorAll("details")].forEach((each, place) => { if (opened[place]) each.open = true; });
  for (const name of ["state", "watches", "view"]) document.body.dataset[name] = fresh.body.dataset[name];
  document.title = fresh.title;
  focus();
}

async function reload(ids) {
  const number = ++asked;
  const address = location.href;
  const fresh = await ask(address, () => number === asked && location.href === address);
  // While the answer came, somebody began to type, or went on to another filter: later then.
  if (number === asked && (location.href !== address || isBusy())) return changed(ids);
  if (!fresh?.querySelector("main")) return;
  show(fresh);
  say("");
}

function changed(ids) {
  if (!isConcerned(ids)) return;
  clearTimeout(waiting);
  const busy = isBusy();
  if (busy) say("Something changed; it is shown when you are done here.");
  waiting = setTimeout(() => (busy ? changed(ids) : reload(ids)), busy ? 1000 : 60);
}

function files() {
  return document.body.dataset.watches.split("\t").filter((path) => path.includes("/") || path.includes("."));
}

// Says in all tabs whether the server is there.
function tell(isThere) {
  channel.postMessage({ isThere });
  answers(isThere);
}

function connect() {
  source?.close();
  const query = new URLSearchParams({ state: document.body.dataset.state });
  for (const path of watched) query.append("watch", path);
  source = new EventSource(`/live?${query}`);
  source.addEventListener("changed", (event) => {
    const ids = event.data.split(" ");
    channel.postMessage({ ids });
    changed(ids);
  });
  source.onopen = () => { tell(true); };
  source.onerror = () => {
    tell(false);
    // Opened anew with the state that is shown now, so that nothing is missed while the server was away.
    source.close();
    setTimeout(connect, 1000);
  };
}

// The tab that holds the stream watches the files that all tabs show.
function watch(paths) {
  const more = paths.filter((path) => !watched.has(path));
  more.forEach((path) => watched.add(path));
  if (leads && more.length) connect();
}

export function follow() {
  if (!document.body.dataset.state) return;
  watch(files());
  channel.onmessage = ({ data }) => {
    if (data.ids) changed(data.ids);
    if ("isThere" in data) answers(data.isThere);
    if (data.paths) watch(data.paths);
    if (data.asks) channel.postMessage({ paths: files() });
  };
  channel.postMessage({ paths: files() });
  const lead = () => {
    leads = true;
    connect();
    channel.postMessage({ asks: true });
  };
  // A browser has locks only where it trusts the connection; over plain HTTP from another machine every tab listens.
  if (!navigator.locks) lead();
  // Held until the tab is closed or goes elsewhere; then the next one gets it. A tab that is about to go gets none.
  else navigator.locks.request("clew-live", () => new Promise(() => { lead(); })).catch(() => {});
}
