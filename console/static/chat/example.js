// The example page's buttons and its list of what the widget tells: what a page of one's own would do.
"use strict";

function told(name, detail) {
  const list = document.getElementById("events");
  const entry = document.createElement("li");
  entry.textContent = `${name} ${JSON.stringify(detail)}`;
  if (!list.dataset.begun) list.replaceChildren();
  list.dataset.begun = "true";
  list.prepend(entry);
}

function begin() {
  const chat = window.InterlockChat;
  for (const name of ["ready", "open", "close", "message", "unread", "handoff", "session", "reset"]) chat.on(name, (detail) => told(name, detail));
  for (const button of document.querySelectorAll("[data-do]")) {
    button.disabled = false;
    button.addEventListener("click", () => chat[button.dataset.do]());
  }
}

if (window.InterlockChat) begin();
else document.querySelector("script[src='/chat/widget.js']").addEventListener("load", begin);
