// Keys of the page in view, and the sheet that lists them. A page registers its own through `Interlock.keys.add`:
// `{ keys: "j" | "g q" | "Ctrl+k", says: "Next approval", group: "Approvals", run(event) }`. None acts while one types.
"use strict";

(() => {
  const known = [];
  let begun = ""; // the first key of a sequence such as "g q"
  let forget = 0;

  const name = (event) => {
    const held = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
    return held + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  };

  const keys = {
    known,
    add(...given) {
      for (const one of given) known.push({ group: document.title.split(" · ").at(-2) ?? "This page", ...one });
    },
    // Press the button in view that carries this key; says whether there is one.
    press(key, within = document) {
      const button = [...within.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((one) => !one.disabled && one.offsetParent);
      if (!button) return false;
      if (button.matches("textarea, input")) button.focus();
      else button.click();
      return Boolean(button);
    },
    focus(key, within = document) {
      const found = [...within.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((one) => !one.disabled && one.offsetParent);
      found?.focus();
      return Boolean(found);
    },
  };
  window.Interlock.keys = keys;

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.isComposing || event.defaultPrevented) return;
    const pressed = name(event);
    if (["Shift", "Control", "Meta", "Alt"].includes(event.key)) return;
    const held = pressed.startsWith("Ctrl+");
    if (!held && (window.Interlock.typing(event.target) || document.querySelector("dialog[open]"))) return;
    const told = begun ? `${begun} ${pressed}` : pressed;
    clearTimeout(forget);
    const fits = known.findLast((one) => one.keys === told);
    const longer = known.some((one) => one.keys.startsWith(`${told} `));
    begun = longer && !fits ? told : "";
    if (longer) forget = setTimeout(() => { begun = ""; }, 1200);
    if (!fits) return;
    if (fits.run(event) !== false) event.preventDefault();
  });

  function shown(sequence) {
    const box = document.createElement("span");
    for (const part of sequence.split(/[ ]/)) {
      const key = document.createElement("kbd");
      key.textContent = part.replace("Ctrl+", navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl ");
      box.append(key, " ");
    }
    return box;
  }

  function sheet() {
    const dialog = document.getElementById("keys-sheet");
    const list = dialog.querySelector("[data-list]");
    list.replaceChildren();
    for (const group of new Set(known.map((one) => one.group))) {
      const title = document.createElement("h3");
      title.textContent = group;
      const rows = document.createElement("dl");
      for (const one of known.filter((k) => k.group === group && k.says)) {
        const row = document.createElement("div");
        const key = document.createElement("dt");
        const says = document.createElement("dd");
        key.append(shown(one.keys));
        says.textContent = one.says;
        row.append(key, says);
        rows.append(row);
      }
      list.append(title, rows);
    }
    dialog.showModal();
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (!document.getElementById("keys-sheet")) return;
    document.querySelectorAll("[data-open-keys]").forEach((one) => one.addEventListener("click", sheet));
    const everywhere = "Everywhere";
    keys.add({ keys: "?", says: "This sheet", group: everywhere, run: sheet });
    for (const link of document.querySelectorAll("nav[aria-label='Pages'] a[data-go]")) {
      keys.add({ keys: `g ${link.dataset.go}`, says: `To ${link.textContent.trim()}`, group: everywhere, run: () => link.click() });
    }
  });
  document.addEventListener("click", (event) => {
    const close = event.target.closest("[data-close]");
    const dialog = close?.closest("dialog");
    if (dialog) {
      event.preventDefault();
      dialog.close();
    } else if (event.target instanceof HTMLDialogElement && event.target.hasAttribute("data-light")) {
      event.target.close(); // a click beside it
    }
  });
})();
