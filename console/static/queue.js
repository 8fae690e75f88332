// The queue by keyboard: j and k move, Enter opens, c claims or gives back, t takes over, / goes to the filters.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  setInterval(() => document.dispatchEvent(new CustomEvent("il:changed", { detail: {} })), 60000); // what time alone changes
  const filters = document.getElementById("filters");
  filters.addEventListener("submit", (event) => { // an address says what is asked for and nothing else
    event.preventDefault();
    const asked = new URLSearchParams([...new FormData(filters)].filter(([, value]) => value));
    location.href = `/console/${asked.size ? `?${asked}` : ""}`;
  });
  const { current } = Interlock.rows("item");
  const press = (key) => () => Interlock.keys.press(key, current() ?? document.getElementById("queue"));
  Interlock.keys.add(
    { keys: "c", says: "Claim it, or give it back", run: press("c") },
    { keys: "t", says: "Take it over", run: press("t") },
    {
      keys: "/",
      says: "To the filters",
      run: () => {
        document.getElementById("filter-box").open = true;
        document.getElementById("f-kind").focus();
      },
    },
  );
});
