// Forms that hold a draft: an unsaved text is not lost by accident, and live updates wait for it.

export function forms() {
  document.addEventListener("input", (event) => {
    const form = event.target.closest?.("form[data-draft]");
    if (form) form.dataset.changed = "1";
  });
  document.addEventListener("submit", (event) => { delete event.target.dataset.changed; });
  addEventListener("beforeunload", (event) => {
    if (document.querySelector("form[data-draft][data-changed]")) event.preventDefault();
  });
}
