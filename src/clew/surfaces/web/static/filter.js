// Filters while somebody types: the server filters, the address follows, and only the results are replaced.
import { ask } from "./server.js";

let asked = 0;

async function apply(form) {
  const number = ++asked;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  const address = `${form.getAttribute("action")}${[...query].length ? `?${query}` : ""}`;
  const fresh = (await ask(address, () => number === asked))?.getElementById("found");
  if (!fresh) return;
  document.getElementById("found").replaceChildren(...fresh.childNodes);
  history.replaceState(null, "", address);
}

export function filters() {
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-filter]");
    if (form) apply(form);
  });
}
