"use strict";
(() => {
  const table = document.querySelector(".matrix");
  const form = document.querySelector(".controls");
  const nothing = document.querySelector(".nothing");
  const rows = Array.from(table.tBodies);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  function filter() {
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits =
        (!form.level.value || row.dataset.level === form.level.value) &&
        (!form.status.value || row.dataset.status === form.status.value) &&
        (!form.gaps.checked || row.dataset.gap === "1") &&
        words.every((word) => texts.get(row).includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length}`;
    nothing.hidden = shown > 0;
  }

  function sort(head) {
    const key = head.dataset.key;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (a, b) =>
      key === "share" ? a.dataset.share - b.dataset.share : a.dataset[key].localeCompare(b.dataset[key]);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a, b) || a.dataset.id.localeCompare(b.dataset.id));
    table.append(...rows);
  }

  function openAll() {
    const details = rows.filter((row) => !row.hidden).map((row) => row.querySelector("details"));
    const open = !details.every((each) => each.open);
    for (const each of details) each.open = open;
  }

  for (const head of table.tHead.rows[0].cells) head.addEventListener("click", () => sort(head));
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.all.addEventListener("click", openAll);
  form.hidden = false;
  filter();
})();
