// What a person types into `[data-keep=NAME]` stays until it was sent: through a refresh, through somebody else's claim,
// and while one looks at another row. It is kept for this tab alone.
"use strict";

(() => {
  const place = (name) => `interlock.kept.${name}`;
  let sent = []; // the names of what was sent last

  function restore() {
    for (const field of document.querySelectorAll("[data-keep]")) {
      const kept = sessionStorage.getItem(place(field.dataset.keep));
      if (kept === null || field.value !== field.defaultValue || field.value === kept) continue;
      field.value = kept;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }
  document.addEventListener("input", ({ target }) => {
    const name = target.dataset?.keep;
    if (!name) return;
    if (target.value === target.defaultValue) sessionStorage.removeItem(place(name));
    else sessionStorage.setItem(place(name), target.value);
  });
  document.addEventListener("submit", ({ target }) => {
    sent = [...target.querySelectorAll("[data-keep]")].map((field) => field.dataset.keep);
  }, true);
  document.addEventListener("il:done", () => {
    for (const name of sent) sessionStorage.removeItem(place(name));
    sent = [];
  });
  document.addEventListener("htmx:after:swap", restore);
  document.addEventListener("DOMContentLoaded", restore);
})();
