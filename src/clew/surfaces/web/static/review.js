// Reviewing by keyboard: j and k move, a accepts, r rejects, u takes the last decision back.

const items = () => [...document.querySelectorAll(".review > li")];

function move(step) {
  const all = items();
  if (!all.length) return;
  const now = all.indexOf(document.activeElement?.closest(".review > li"));
  all[Math.min(Math.max(now + step, 0), all.length - 1)].focus();
}

function press(name) {
  const item = document.activeElement?.closest(".review > li");
  const button = (name === "undo" ? document : item)?.querySelector(`button[data-key="${name}"]`);
  button?.click();
}

export function review() {
  document.addEventListener("keydown", (event) => {
    if (!document.querySelector(".review") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
    const keys = { j: () => move(1), k: () => move(-1), a: () => press("accept"), r: () => press("reject"), u: () => press("undo") };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const place = Number(new URLSearchParams(location.search).get("at") ?? 0);
  items()[Math.min(place, items().length - 1)]?.focus({ preventScroll: place === 0 });
}
