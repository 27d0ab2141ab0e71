// The palette: `/` opens it anywhere, typing searches everything, arrows choose, Enter goes there.
import { ask } from "./server.js";

const REST_MS = 80;
const VIEWS = () => [...document.querySelectorAll("nav.main a")].map((link) => ({ name: link.textContent, to: link.getAttribute("href") }));

let dialog, words, found, asked = 0, waiting = 0, hasMoved = false;

function options() {
  return [...found.querySelectorAll("[role=option]")];
}

function choose(place) {
  const all = options();
  all.forEach((each, number) => {
    each.setAttribute("aria-selected", String(number === place));
    each.id = `option-${number}`;
  });
  if (all[place]) {
    words.setAttribute("aria-activedescendant", all[place].id);
    all[place].scrollIntoView({ block: "nearest" });
  } else words.removeAttribute("aria-activedescendant");
}

function chosen() {
  return options().findIndex((each) => each.getAttribute("aria-selected") === "true");
}

function views(text) {
  const wanted = text.toLowerCase();
  return VIEWS().filter((view) => view.name.toLowerCase().includes(wanted)).map((view) => {
    const link = document.createElement("a");
    link.href = view.to;
    link.setAttribute("role", "option");
    link.tabIndex = -1;
    const kind = document.createElement("span");
    kind.className = "kind";
    kind.textContent = "view";
    const title = document.createElement("span");
    title.className = "title";
    title.textContent = view.name;
    link.append(kind, " ", title);
    return link;
  });
}

// The views are known here, so what is typed and confirmed at once goes where it says.
function showViews() {
  found.replaceChildren(...views(words.value.trim()));
  choose(0);
}

async function search() {
  const text = words.value.trim();
  const number = ++asked;
  const fresh = text ? await ask(`/search?${new URLSearchParams({ q: text, fragment: "1" })}`, () => number === asked && dialog.open) : null;
  if (number !== asked) return;
  found.ariaBusy = "false";
  if (!fresh) return;
  const kept = options()[chosen()]?.href;
  found.replaceChildren(...views(text), ...fresh.body.childNodes);
  // If the user moved in the list already, the same entry stays chosen.
  choose(hasMoved ? Math.max(options().findIndex((each) => each.href === kept), 0) : 0);
}

// What is typed is searched after a short rest; an answer to what was typed before is not shown any more.
function typed(rest) {
  asked += 1;
  hasMoved = false;
  found.ariaBusy = "true";
  showViews();
  clearTimeout(waiting);
  waiting = setTimeout(search, rest);
}

export function show() {
  dialog.showModal();
  words.focus();
  words.select();
  typed(0);
}

function pressed(event) {
  const all = options();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    hasMoved = true;
    const step = event.key === "ArrowDown" ? 1 : -1;
    choose((chosen() + step + all.length) % Math.max(all.length, 1));
  } else if (event.key === "Enter") {
    event.preventDefault();
    const to = all[Math.max(chosen(), 0)];
    if (to) location.href = to.href;
    else if (words.value.trim()) location.href = `/search?${new URLSearchParams({ q: words.value.trim() })}`;
  }
}

export function palette() {
  dialog = document.getElementById("palette");
  words = document.getElementById("palette-words");
  found = document.getElementById("palette-found");
  if (!document.querySelector("nav.main")) return;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable) return;
    event.preventDefault();
    show();
  });
  words.addEventListener("input", () => typed(REST_MS));
  words.addEventListener("keydown", pressed);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}
