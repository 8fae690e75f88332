// Pieces that stay true: `[data-live=URL]` is read again when something changes, and morphed in place, so that focus,
// selection and typed text stay. With `data-conversation` only that conversation's changes count.
"use strict";

(() => {
  const APART_MS = 80; // between two readings of a conversation's piece; the first change is read at once
  const WIDE_APART_MS = 250; // of a piece that any change may touch, and twice as long as a reading takes
  const reading = new Set(); // elements that are being read, or were just now
  const due = new Set(); // elements that changed meanwhile, or while the page was hidden

  // A form in it that is being sent is left alone until its answer is there.
  const sending = (element) => element.querySelector(".htmx-request") !== null;

  async function read(element) {
    if (document.hidden || reading.has(element) || sending(element)) {
      due.add(element);
      return;
    }
    due.delete(element);
    reading.add(element);
    const began = performance.now();
    const swap = element.dataset.liveSwap === "outer" ? "outerMorph" : "innerMorph";
    try {
      await htmx.ajax("GET", element.dataset.live, { source: element, target: element, swap });
    } finally {
      const taken = performance.now() - began;
      const apart = element.dataset.conversation ? APART_MS : Math.max(WIDE_APART_MS, 2 * taken);
      setTimeout(() => {
        reading.delete(element);
        if (due.has(element) && element.isConnected) read(element);
      }, Math.max(0, apart - (element.dataset.conversation ? taken : 0)));
    }
  }

  // One after the other, in the order of the page: what was said is there before what is beside it.
  async function changed({ conversation_id: ident = null } = {}) {
    for (const element of document.querySelectorAll("[data-live]")) {
      const only = element.dataset.conversation;
      if (!only || !ident || only === ident) await read(element);
    }
  }

  document.addEventListener("il:changed", (event) => changed(event.detail ?? {}));
  document.addEventListener("il:done", () => changed());
  const readDue = () => [...due].forEach((element) => element.isConnected && read(element));
  document.addEventListener("htmx:finally:request", () => setTimeout(readDue));
  document.addEventListener("visibilitychange", () => document.hidden || readDue());
})();
