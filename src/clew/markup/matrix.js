"use strict";
// The rows stand in the file as text that a browser without scripts reads as a table. Only those that are shown become
// elements, thirty at a time, and what a row holds becomes elements when it is opened.
(() => {
  const PAGE = 30;
  const table = document.querySelector(".matrix");
  const form = document.querySelector(".filters");
  const pager = document.querySelector(".pager");
  const rows = document.getElementById("rows").textContent.split("<!--row-->").slice(1).map((text) => ({ text: text.replace("</table>", "") }));
  const names = ["id", "title", "level", "status", "share", "gap"];
  const pattern = new RegExp(names.map((name) => `data-${name}="([^"]*)"`).join(" "));
  const plain = document.createElement("textarea");

  for (const row of rows) {
    const found = pattern.exec(row.text);
    names.forEach((name, place) => {
      // What the file escaped is a text again; a text area never makes elements of it.
      if (found[place + 1].includes("&")) { plain.innerHTML = found[place + 1]; row[name] = plain.value; } else row[name] = found[place + 1];
    });
    row.share = Number(row.share);
  }
  let shown = rows, first = 0, most = PAGE;

  function words(row) {
    row.words ??= row.text.replace(/<[^>]*>/g, " ").toLowerCase();
    return row.words;
  }

  function draw() {
    for (const body of [...table.tBodies]) body.remove();
    const made = new DOMParser().parseFromString(
      `<table>${shown.slice(first, first + most).map((row) => row.text.replace(/<!--detail-->.*<!--\/detail-->/s, "")).join("")}</table>`, "text/html");
    table.append(...made.querySelectorAll("tbody"));
    form.querySelector("output").textContent = `${shown.length} of ${rows.length}`;
    document.getElementById("nothing").hidden = shown.length > 0;
    pager.hidden = shown.length <= PAGE;
    pager.querySelector("span").textContent = `${first + 1} to ${Math.min(first + PAGE, shown.length)} of ${shown.length}`;
    pager.querySelector("[name=before]").disabled = first === 0;
    pager.querySelector("[name=after]").disabled = first + PAGE >= shown.length;
  }

  function fill(details) {
    if (details.dataset.full) return;
    details.dataset.full = "1";
    const id = details.closest("tbody").dataset.id;
    const row = rows.find((each) => each.id === id);
    const detail = /<!--detail-->(.*)<!--\/detail-->/s.exec(row.text)[1];
    details.append(...new DOMParser().parseFromString(detail, "text/html").body.childNodes);
  }

  function filter() {
    const wanted = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = rows.filter((row) =>
      (!form.level.value || row.level === form.level.value) && (!form.status.value || row.status === form.status.value) &&
      (!form.gaps.checked || row.gap === "1") && wanted.every((word) => words(row).includes(word)));
    first = 0;
    draw();
  }

  function sort(head) {
    const key = head.dataset.key;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (a, b) => (key === "share" ? a.share - b.share : a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a, b) || (a.id < b.id ? -1 : 1));
    filter();
  }

  // A link to a requirement that is on another page goes to that page.
  function follow(id) {
    const place = shown.findIndex((row) => row.id === id);
    if (place < 0) return;
    first = Math.floor(place / PAGE) * PAGE;
    draw();
    document.getElementById(id)?.scrollIntoView();
  }

  for (const head of table.tHead.rows[0].cells) head.querySelector("button").addEventListener("click", () => sort(head));
  table.addEventListener("toggle", (event) => { if (event.target.open) fill(event.target); }, true);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.all.addEventListener("click", () => {
    const details = [...table.querySelectorAll("details")];
    const open = !details.every((each) => each.open);
    for (const each of details) each.open = open;
  });
  pager.addEventListener("click", (event) => {
    if (!event.target.name) return;
    first += event.target.name === "after" ? PAGE : -PAGE;
    draw();
  });
  table.addEventListener("click", (event) => {
    const to = event.target.closest?.("a[href^='#']");
    if (to) { event.preventDefault(); follow(decodeURIComponent(to.getAttribute("href").slice(1))); }
  });
  // Paper has every row that passes the filter; those that are open stay open.
  let before = null;
  addEventListener("beforeprint", () => {
    before = [first, [...table.querySelectorAll("tbody:has(details[open])")].map((body) => body.dataset.id)];
    [first, most] = [0, Infinity];
    draw();
    reopen(before[1]);
  });
  addEventListener("afterprint", () => {
    [first, most] = [before[0], PAGE];
    draw();
    reopen(before[1]);
  });
  function reopen(ids) {
    for (const id of ids) {
      const details = document.getElementById(id)?.querySelector("details");
      if (details) { fill(details); details.open = true; }
    }
  }
  form.hidden = false;
  draw();
})();
