// What an organisation's page loads: a button at the lower right and, once it is pressed, the chat in a frame.
// Served by /chat/widget.js, which gives it WORDS. It reads nothing of the page and takes messages from its own frame alone.
"use strict";

const MARK = "interlock-chat";
const script = document.currentScript;
const home = new URL(script.src).origin;
const NARROW = "(max-width: 30rem), (max-height: 26rem)";
const STYLE = `
  :host { all: initial; }
  .place { position: fixed; z-index: 2147483000; inset: auto 1rem 1rem auto; font: 16px/1.4 system-ui, sans-serif; color-scheme: light dark; }
  .launch { all: unset; box-sizing: border-box; position: relative; display: grid; place-items: center; width: 3.5rem; height: 3.5rem; border-radius: 50%;
    background: #1a53d8; color: #fff; cursor: pointer; box-shadow: 0 2px 8px rgb(0 0 0 / .3); }
  .launch:hover { background: #1546b8; }
  .launch:focus-visible { outline: 3px solid #1a53d8; outline-offset: 3px; box-shadow: 0 0 0 3px #fff; }
  .launch svg { width: 1.6rem; height: 1.6rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
  .count { position: absolute; top: -.25rem; right: -.25rem; min-width: 1.4rem; padding: 0 .3rem; box-sizing: border-box; border-radius: 99px;
    background: #b3201f; color: #fff; font-size: .875rem; font-weight: 600; text-align: center; }
  .frame { position: absolute; right: 0; bottom: 4.25rem; width: min(25rem, calc(100vw - 2rem)); height: min(40rem, calc(100dvh - 6.5rem));
    border: 1px solid #8a93a0; border-radius: 12px; background: Canvas; box-shadow: 0 8px 32px rgb(0 0 0 / .3); }
  [hidden] { display: none !important; }
  @media ${NARROW} { .frame { position: fixed; inset: 0; width: 100vw; height: 100dvh; border: 0; border-radius: 0; } .open .launch { visibility: hidden; } }
  @media (prefers-reduced-motion: no-preference) { .frame { animation: rise .16s ease-out; } @keyframes rise { from { transform: translateY(.5rem); opacity: 0; } } }
  @media (forced-colors: active) { .launch { border: 2px solid ButtonText; } }
  @media print { .place { display: none; } }
`;

const listeners = new Map();
let now = null; // what was booted: {tenant, identity, language} with its pieces on the page

function emit(name, detail = {}) {
  for (const heard of listeners.get(name) ?? []) heard(detail);
}

function wordsIn(language) {
  const wished = [language, ...navigator.languages].filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
  return WORDS[wished.find((tag) => tag in WORDS) ?? "en"];
}

function icon() {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M4 5h16v11H10l-5 4v-4H4z");
  drawn.append(path);
  return drawn;
}

function build(words) {
  const host = document.createElement("interlock-chat");
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet(); // a page's own policy lets no style element through, and this
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const place = document.createElement("div");
  place.className = "place";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "launch";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", words["widget.open"]);
  button.addEventListener("click", () => api.toggle());
  const count = document.createElement("span");
  count.className = "count";
  count.hidden = true;
  button.append(icon(), count);
  place.append(button);
  root.append(place);
  document.body.append(host);
  return { host, place, button, count, frame: null, isOpen: false, unread: 0 };
}

// The frame is there from the first time that it is needed; once loaded it is told whose chat this is.
function frameOf() {
  if (now.frame) return now.frame;
  const frame = document.createElement("iframe");
  const query = new URLSearchParams({ tenant: now.tenant, ...(now.language && { language: now.language }) });
  frame.className = "frame";
  frame.hidden = true;
  frame.title = now.words["widget.frame"].replace("{name}", now.tenant);
  frame.referrerPolicy = "origin";
  frame.addEventListener("load", async () => {
    tell("boot", { identity: await identityOf(now) });
    now.loaded = true;
    for (const [type, more] of now.waiting.splice(0)) tell(type, more);
  });
  frame.src = `${home}/chat/embed?${query}`;
  now.frame = frame;
  now.place.prepend(frame);
  return frame;
}

// An identity is a JWT, or a function that gives one, so that a new one can be had when the session has ended.
async function identityOf({ identity }) {
  try {
    return (typeof identity === "function" ? await identity() : identity) ?? null;
  } catch (fault) {
    console.error("InterlockChat: the page's identity function failed", fault);
    return null;
  }
}

function tell(type, more = {}) {
  now.frame.contentWindow.postMessage({ mark: MARK, type, ...more }, home);
}

function tellSoon(type, more) {
  if (now.loaded) tell(type, more);
  else now.waiting.push([type, more]);
}

function show(isOpen) {
  if (!now || now.isOpen === isOpen) return;
  now.isOpen = isOpen;
  frameOf().hidden = !isOpen;
  now.place.classList.toggle("open", isOpen);
  now.button.setAttribute("aria-expanded", String(isOpen));
  label();
  if (isOpen) {
    now.frame.focus();
    tellSoon("open");
  } else {
    tellSoon("close");
    now.button.focus({ preventScroll: true });
  }
  emit(isOpen ? "open" : "close");
}

function label() {
  const { words, unread, isOpen } = now;
  const told = words[isOpen ? "widget.close" : "widget.open"];
  now.button.setAttribute("aria-label", unread ? `${told} (${words["widget.unread"].replace("{count}", unread)})` : told);
  now.count.hidden = !unread;
  now.count.textContent = unread > 99 ? "99+" : String(unread);
}

function dropFrame() {
  now.frame?.remove();
  Object.assign(now, { frame: null, loaded: false, waiting: [], isOpen: false, unread: 0, identity: null });
  now.place.classList.remove("open");
  now.button.setAttribute("aria-expanded", "false");
  label();
}

async function heard({ type, mark, ...detail }) {
  delete detail.identity;
  if (type === "ready") now.frame.title = now.words["widget.frame"].replace("{name}", detail.name);
  if (type === "close") show(false);
  if (type === "unread") { now.unread = detail.count; label(); }
  if (type === "identity-needed") tell("boot", { identity: await identityOf(now) });
  if (type === "reset") dropFrame();
  if (["ready", "message", "unread", "handoff", "session", "reset"].includes(type)) emit(type, detail);
}

window.addEventListener("message", (event) => {
  if (!now?.frame || event.origin !== home || event.source !== now.frame.contentWindow || event.data?.mark !== MARK) return;
  heard(event.data);
});

const api = {
  // Put the chat of `tenant` on the page; again, with another identity, language or tenant, in the place of what was there.
  boot({ tenant, identity = null, language = null } = {}) {
    if (typeof tenant !== "string" || !tenant) throw new TypeError("InterlockChat.boot: `tenant` is needed");
    const reopen = now?.isOpen ?? false;
    this.destroy();
    const words = wordsIn(language);
    now = { tenant, identity, language, words, waiting: [], loaded: false, ...build(words) };
    if (reopen) this.open();
  },
  open() { show(true); },
  close() { show(false); },
  toggle() { show(!now?.isOpen); },
  // Hear of an event; returns a function that ends this.
  on(name, fn) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(fn);
    return () => listeners.get(name).delete(fn);
  },
  // Forget whoever was signed in, with everything that is kept in this browser: for when they sign out of the page.
  reset() {
    if (!now) return;
    now.identity = null;
    frameOf();
    tellSoon("reset");
  },
  // Take the chat off the page; what is kept in the browser stays.
  destroy() {
    now?.host.remove();
    now = null;
  },
};

if (!window.InterlockChat) {
  window.InterlockChat = api;
  const { tenant, language } = script.dataset;
  const begin = () => api.boot({ tenant, language: language ?? null });
  if (tenant && document.body) begin();
  else if (tenant) document.addEventListener("DOMContentLoaded", begin);
}
