// Policy: finding a rule in a bundle, and opening the file that a link leads into.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const find = document.getElementById("find-rule");
  if (!find) return;
  const rules = [...document.querySelectorAll(".rule")];
  const found = document.getElementById("rules-found");

  function narrow() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const rule of rules) {
      const fits = words.every((word) => rule.textContent.toLowerCase().includes(word));
      rule.hidden = !fits;
      if (fits) shown += 1;
    }
    found.textContent = words.length ? `${shown} of ${rules.length} rules` : "";
  }

  // A link into a line opens its file; one to a rule opens the rule.
  function open() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const box = target.closest("details") ?? target.querySelector("details");
    if (box) box.open = true;
    target.scrollIntoView({ block: "center" });
  }

  find.addEventListener("input", narrow);
  window.addEventListener("hashchange", open);
  Interlock.keys.add({ keys: "/", says: "Find a rule", run: () => find.focus() });
  open();
});
