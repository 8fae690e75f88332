// The palette: pages, the commands of the page in view, and conversations, found by what one types. Ctrl-K or ⌘-K.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.getElementById("palette");
  if (!dialog) return;
  const input = document.getElementById("palette-input");
  const list = document.getElementById("palette-list");
  const state = document.getElementById("palette-state");
  const SHOWN_MAX = 12;
  const PAUSE_MS = 150;
  let chosen = 0;
  let found = []; // conversations, as the server told them for `asked`
  let asked = "";
  let timer = 0;

  function own() {
    const pages = [...document.querySelectorAll("nav[aria-label='Pages'] a")].map((link) => ({
      text: link.textContent.trim(), hint: link.dataset.go ? `g ${link.dataset.go}` : "Page", go: () => link.click(),
    }));
    const commands = Interlock.keys.known.filter((one) => one.group !== "Everywhere" && one.says).map((one) => ({
      text: one.says, hint: one.keys, go: () => one.run(new Event("command")),
    }));
    const sheet = { text: "Keys of this page", hint: "?", go: () => document.querySelector("[data-open-keys]").click() };
    return [...pages, ...commands, sheet];
  }

  const fits = (words) => ({ text }) => words.every((word) => text.toLowerCase().includes(word));

  function options() {
    const typed = input.value.trim();
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const seen = own().filter(fits(words));
    return [...seen.slice(0, SHOWN_MAX), ...(typed === asked ? found : [])];
  }

  function show() {
    const all = options();
    chosen = Math.max(0, Math.min(chosen, all.length - 1));
    list.replaceChildren(...all.map(({ text, hint, go }, index) => {
      const option = document.createElement("li");
      const words = document.createElement("span");
      const aside = document.createElement("small");
      option.id = `palette-option-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", String(index === chosen));
      words.textContent = text;
      aside.textContent = hint;
      option.append(words, aside);
      option.addEventListener("click", () => { dialog.close(); go(); });
      return option;
    }));
    if (all.length) input.setAttribute("aria-activedescendant", `palette-option-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  // What conversations fit: asked for once one stops typing; said while it is waited for.
  async function search() {
    const typed = input.value.trim();
    if (typed.length < 2) {
      state.textContent = "Type a conversation's id, a customer's id, or words that were said.";
      return;
    }
    state.textContent = "Looking through the conversations…";
    try {
      const answer = await fetch(`${input.dataset.find}?q=${encodeURIComponent(typed)}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      if (input.value.trim() !== typed) return;
      asked = typed;
      found = told.items.map(({ text, hint, href }) => ({ text, hint, go: () => location.assign(href) }));
      state.textContent = found.length ? `${found.length} ${found.length === 1 ? "conversation fits" : "conversations fit"}.` : "No conversation fits.";
      show();
    } catch {
      if (input.value.trim() === typed) state.textContent = "The conversations cannot be searched at the moment. Pages and commands work.";
    }
  }

  function open() {
    if (dialog.open) return;
    input.value = "";
    chosen = 0;
    asked = "";
    found = [];
    dialog.showModal();
    input.focus();
    show();
    search();
  }

  input.addEventListener("input", () => {
    chosen = 0;
    show();
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      const count = list.childElementCount;
      chosen = count ? (chosen + moves[event.key] + count) % count : 0;
      show();
    } else if (event.key === "Enter" && !event.isComposing) {
      list.children[chosen]?.click();
    } else return;
    event.preventDefault();
  });
  document.querySelectorAll("[data-open-palette]").forEach((one) => one.addEventListener("click", open));
  Interlock.keys.add({ keys: "Ctrl+k", says: "Find a page, a conversation or a command", group: "Everywhere", run: open });
});
