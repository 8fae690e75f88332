// Drafts: the keys, and sending from the text field.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  Interlock.rows("draft");
  const detail = document.getElementById("detail");
  document.addEventListener("keydown", (event) => {
    if (event.target.id === "text" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      document.getElementById("send")?.click();
    }
  });
  Interlock.keys.add(
    { keys: "e", says: "Change the text", run: () => document.getElementById("text")?.focus() },
    { keys: "a", says: "To “Send”; Enter presses it", run: () => Interlock.keys.focus("a", detail) },
    { keys: "r", says: "Reject it: say why", run: () => Interlock.keys.focus("r", detail) },
    { keys: "n", says: "Have it drafted anew", run: () => Interlock.keys.press("n", detail) },
  );
});
