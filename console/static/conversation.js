// One conversation, live: where the log stands, who is here, and the keys. Writing is in composer.js.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { id, page } = document.getElementById("case").dataset;
  const scroll = document.getElementById("log-scroll");
  const end = document.getElementById("log-end");
  const news = document.getElementById("news");
  const seen = document.getElementById("seen-version");
  const list = () => document.getElementById("log-list");
  const said = () => document.querySelectorAll("#log-list > .entry, #log-list > .line").length;
  htmx.config.morphIgnore = [...htmx.config.morphIgnore, "open"]; // what a person has unfolded stays so

  // The end of the log: who reads it there stays there, who reads above is told that there is more.
  let atEnd = true;
  let known = said();
  const toEnd = () => {
    scroll.scrollTop = scroll.scrollHeight;
    if (getComputedStyle(scroll).overflowY === "visible") end.scrollIntoView({ block: "nearest" });
  };
  function read() {
    known = said();
    news.hidden = true;
    seen.value = list().dataset.version;
    for (const field of document.querySelectorAll("[data-seen]")) field.value = seen.value;
  }
  new IntersectionObserver(([one]) => {
    atEnd = one.isIntersecting;
    if (atEnd) read();
  }, { rootMargin: "0px 0px 80px 0px" }).observe(end);
  news.addEventListener("click", () => { toEnd(); read(); });
  if (!location.hash) scroll.scrollTop = scroll.scrollHeight;

  document.addEventListener("htmx:after:swap", ({ detail }) => {
    const target = detail?.ctx?.target;
    if (target?.id === "log") {
      const more = said() - known;
      if (atEnd) {
        toEnd();
        read();
      } else if (more > 0) {
        news.textContent = `${more} new`;
        news.hidden = false;
      }
    }
    if (target?.id === "proposal") read();
  });

  // A list that was chosen from keeps that choice through a morph; it has to say what counts.
  document.addEventListener("htmx:after:swap", () => {
    const assigned = document.getElementById("staff_id");
    if (assigned !== document.activeElement) assigned.value = assigned.querySelector("option[selected]")?.value ?? "";
  });

  // Since when whoever has it has it: the log says so.
  function since() {
    const last = [...document.querySelectorAll("#log-list > .stretch:not(.ends) time")].at(-1);
    const place = document.getElementById("owner-since");
    if (!last || !place) return;
    const at = new Date(last.dateTime);
    const today = at.toISOString().slice(0, 10) === new Date().toISOString().slice(0, 10);
    const words = `since ${at.toLocaleString("en-GB", { timeZone: "UTC", ...(today ? { hour: "2-digit", minute: "2-digit" } : { dateStyle: "medium", timeStyle: "short" }) })}`; // as the log tells times
    if (place.textContent !== words) place.textContent = words;
  }
  document.addEventListener("htmx:after:swap", since);
  since();

  // Who looks and who types: said again before it runs out, and taken back when one leaves.
  let state = "looking";
  let until = 0;
  async function attend(now) {
    const answer = await Interlock.post(`${page}/presence`, { state: now }).catch(() => null);
    if (answer?.ok && !answer.headers.has("X-Problem")) htmx.swap({ target: document.getElementById("presence"), text: await answer.text(), swap: "innerMorph" });
  }
  const say = () => { if (!document.hidden) attend(state); };
  document.addEventListener("il:typing", () => {
    until = Date.now() + 5000;
    if (state !== "typing") {
      state = "typing";
      say();
    }
  });
  setInterval(() => {
    if (state === "typing" && Date.now() > until) {
      state = "looking";
      say();
    }
  }, 1000);
  setInterval(say, 15000);
  document.addEventListener("visibilitychange", say);
  window.addEventListener("pagehide", () => { Interlock.post(`${page}/presence`, { state: "gone" }, { keepalive: true }).catch(() => null); });
  say();

  setInterval(() => document.dispatchEvent(new CustomEvent("il:changed", { detail: {} })), 60000); // what time alone changes

  document.addEventListener("click", async ({ target }) => {
    const copy = target.closest?.("[data-copy]");
    if (copy) {
      await navigator.clipboard?.writeText(copy.dataset.copy);
      Interlock.toast("Copied.", { ms: 2000 });
    }
    if (target.closest?.("[data-print]")) window.print();
    const action = target.closest?.("a[href^='#action-']");
    if (action) document.querySelector(`${action.getAttribute("href")} details`)?.setAttribute("open", "");
  });
  document.addEventListener("focusin", async ({ target }) => { // the tags in use, once somebody wants one
    const known = document.getElementById("known-tags");
    if (target.id !== "tag" || known.childElementCount) return;
    const answer = await fetch("/tags").catch(() => null);
    const tags = answer?.ok ? (await answer.json()).items.slice(0, 50) : [];
    known.replaceChildren(...tags.map(({ tag }) => Object.assign(document.createElement("option"), { value: tag })));
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.id === "propose" && target.open && !target.querySelector("form")) htmx.trigger("#proposal", "il:open");
  }, true);
  document.addEventListener("il:done", ({ detail }) => {
    if (detail?.proposed) document.getElementById("proposal-review")?.replaceChildren();
    for (const form of document.querySelectorAll("form[data-clear]")) form.reset();
  });

  const press = (key) => () => Interlock.keys.press(key);
  const focus = (key) => () => Interlock.keys.focus(key);
  Interlock.keys.add(
    { keys: "t", says: "Take it over", run: press("t") },
    { keys: "x", says: "Give it back to the assistant", run: press("x") },
    { keys: "p", says: "Propose an action", run: press("p") },
    { keys: "a", says: "Assign it", run: focus("a") },
    { keys: "s", says: "Snooze it, or wake it", run: focus("s") },
    { keys: "l", says: "Add a tag", run: focus("l") },
    { keys: "End", says: "To the end of the log", run: () => { toEnd(); read(); } },
    { keys: "u", says: "Back to the queue", run: () => { location.href = "/console/"; } },
  );
  window.Interlock.conversation = { id, page };
});
