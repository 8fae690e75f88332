// Moving through a list of rows by keyboard: `.row-item` with a link `.row-open`. The row that one is on has focus.
"use strict";

window.Interlock.rows = (what) => {
  const rows = () => [...document.querySelectorAll(".row-item")];
  const at = () => rows().findIndex((row) => row.contains(document.activeElement) || row.classList.contains("at"));

  function to(index) {
    const all = rows();
    const row = all[Math.max(0, Math.min(index, all.length - 1))];
    if (!row) return;
    all.forEach((one) => one.classList.toggle("at", one === row));
    const link = row.querySelector(".row-open");
    link.focus();
    row.scrollIntoView({ block: "nearest" });
  }
  const current = () => rows()[at()] ?? null;

  Interlock.keys.add(
    { keys: "j", says: `Next ${what}`, run: () => to(at() + 1) },
    { keys: "k", says: `${what[0].toUpperCase()}${what.slice(1)} before`, run: () => to(Math.max(0, at() - 1)) },
    { keys: "o", says: "Open it", run: () => current()?.querySelector(".row-open").click() },
  );
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest?.(".row-item");
    if (row) rows().forEach((one) => one.classList.toggle("at", one === row));
  });

  // The row whose detail is in view.
  const desk = document.querySelector(".desk");
  desk?.addEventListener("click", ({ target }) => { if (target.closest(".row-open")) desk.removeAttribute("data-by-itself"); });
  function mark() {
    const { row: shown, address } = document.querySelector("#detail [data-row]")?.dataset ?? {};
    const byItself = desk?.hasAttribute("data-by-itself"); // the first one, which nobody has chosen
    if (address && !byItself && location.pathname + location.search !== address) history.replaceState(null, "", address);
    for (const row of rows()) {
      if (row.id === shown) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    desk?.classList.toggle("chosen", Boolean(shown) && !byItself);
  }
  document.addEventListener("htmx:after:swap", mark);
  mark();
  return { current };
};
