// What every page of the staff has: live changes, toasts, times that stay true, and the seal on what htmx sends.
// Pages listen on `document` for `il:changed` (detail: {conversation_id, seq}) and use `window.Interlock`.
"use strict";

const Interlock = {
  // Show a line at the bottom; `undo` is a function that takes it back, while it can be.
  toast(text, { undo = null, bad = false, ms = 6000 } = {}) {
    const toast = document.createElement("div");
    toast.className = bad ? "toast bad" : "toast";
    toast.dataset.toast = "";
    const words = document.createElement("p");
    words.textContent = text;
    toast.append(words);
    if (undo) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "undo";
      button.textContent = "Undo";
      button.addEventListener("click", () => { toast.remove(); undo(); });
      toast.append(button);
    }
    document.getElementById("toasts").append(toast);
    if (ms) setTimeout(() => toast.remove(), ms);
    return toast;
  },
  typing(target) {
    return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
  },
};
window.Interlock = Interlock;

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-dismiss]");
  if (button) button.closest("[data-toast]")?.remove();
});

// `<time datetime data-ago>` shows how long ago it is, and keeps that true.
const STEPS = [[86400, "d"], [3600, "h"], [60, "min"]];
Interlock.length = (seconds) => {
  let left = Math.floor(Math.abs(seconds));
  const told = [];
  for (const [size, unit] of STEPS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) told.push(`${count} ${unit}`);
  }
  return told.length ? told.slice(0, 2).join(" ") : `${left} s`;
};
function retell(root = document) {
  for (const time of root.querySelectorAll("time[data-ago]")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const words = Interlock.length(seconds);
    time.textContent = time.dataset.ago === "bare" ? words : seconds >= 0 ? `${words} ago` : `in ${words}`;
  }
}
setInterval(retell, 5000);
document.addEventListener("htmx:after:swap", () => retell());
document.addEventListener("DOMContentLoaded", () => retell());

// Live changes, once for all tabs.
function changed(data) {
  document.dispatchEvent(new CustomEvent("il:changed", { detail: data }));
}
function line(up) {
  document.getElementById("offline").hidden = up;
  if (up) changed({ conversation_id: null, seq: 0 }); // whatever was missed is read again
}
function follow() {
  if (!document.querySelector("header.top")) return; // nobody has signed in
  const worker = document.querySelector("script[src*='/base.js']").src.replace("base.js", "live-worker.js");
  if (window.SharedWorker) {
    const { port } = new SharedWorker(worker, "interlock-live");
    port.addEventListener("message", ({ data }) => (data.type === "line" ? line(data.up) : changed(data.data)));
    port.start();
    window.addEventListener("pagehide", () => port.postMessage("bye"));
    window.addEventListener("pageshow", (event) => event.persisted && location.reload());
    return;
  }
  const source = new EventSource("/events/staff");
  source.addEventListener("open", () => line(true));
  source.addEventListener("error", () => line(false));
  source.addEventListener("changed", (event) => changed(JSON.parse(event.data)));
}
document.addEventListener("DOMContentLoaded", follow);
