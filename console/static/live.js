// Pieces that stay true: `[data-live=URL]` is read again when something changes, and morphed in place, so that focus,
// selection and typed text stay. With `data-conversation` only that conversation's changes count.
"use strict";

(() => {
  const APART_MS = 250; // at most so often, the first at once
  const waiting = new Map(); // element → timer, while it was read just now
  const due = new Set(); // elements that changed meanwhile, or while the page was hidden

  function read(element) {
    if (document.hidden || waiting.has(element)) {
      due.add(element);
      return;
    }
    due.delete(element);
    waiting.set(element, setTimeout(() => {
      waiting.delete(element);
      if (due.has(element) && element.isConnected) read(element);
    }, APART_MS));
    const swap = element.dataset.liveSwap === "outer" ? "outerMorph" : "innerMorph";
    htmx.ajax("GET", element.dataset.live, { source: element, target: element, swap });
  }

  function changed({ conversation_id: ident = null } = {}) {
    for (const element of document.querySelectorAll("[data-live]")) {
      const only = element.dataset.conversation;
      if (!only || !ident || only === ident) read(element);
    }
  }

  document.addEventListener("il:changed", (event) => changed(event.detail ?? {}));
  document.addEventListener("il:done", () => changed());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) [...due].forEach((element) => element.isConnected && read(element));
  });
})();
