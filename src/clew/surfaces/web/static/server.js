// Asks the server for pages, and says where everybody sees it when it does not answer.

const AGAIN_MS = 1000;
const AWAY = "The server does not answer; this page shows what it said last.";

export function say(text) {
  for (const place of document.querySelectorAll(".live")) place.textContent = text;
}

// Only what was said about the server is taken back: something else may be said meanwhile.
export function answers(isThere) {
  if (!isThere) say(AWAY);
  else if (document.querySelector(".live").textContent === AWAY) say("");
}

// What an address shows, as a document. A request that fails, because the server is away or busy, is sent again for as
// long as somebody still wants the answer; null when nobody does.
export async function ask(address, isWanted) {
  while (isWanted()) {
    try {
      const answer = await fetch(address, { credentials: "same-origin", headers: { "X-Clew": "script" } });
      if (answer.headers.get("content-type")?.startsWith("text/html")) {
        const text = await answer.text();
        answers(true);
        return isWanted() ? new DOMParser().parseFromString(text, "text/html") : null;
      }
    } catch {
      // Nothing came, or only a part of it; a browser that leaves the page ends its requests so, too.
    }
    answers(false);
    await new Promise((done) => { setTimeout(done, AGAIN_MS); });
  }
  return null;
}
