// The way in where the chat stands alone: a demo's customers to choose from, or without saying who one is.

import { NoAnswer, Refused } from "./contract.js";
import { el } from "./dom.js";

const AGAIN_MS = 2000;
const SHOWN = 6;

// Return a demo's organisations with their customers; null in every other installation. Waits for a demo being filled.
export async function demoPeople(contract, waits) {
  for (;;) {
    try {
      return (await contract.get("/sessions/people")).tenants;
    } catch (fault) {
      if (fault instanceof Refused && !fault.passes) return null;
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
      waits(fault instanceof Refused);
      await new Promise((go) => setTimeout(go, AGAIN_MS));
    }
  }
}

// Show who can be chosen; `chosen` is called with {tenant, id}, with no id for a visitor.
export function showEntrance(node, words, tenants, chosen) {
  const heading = el("h2", { tabindex: "-1" }, words.t("entrance.title"));
  node.replaceChildren(heading, el("p", {}, words.t("entrance.demo")), ...tenants.map((tenant) => choices(words, tenant, chosen)));
  node.hidden = false;
  heading.focus({ preventScroll: true });
}

function choices(words, tenant, chosen) {
  const entries = tenant.customers.map((person) => entry(person, () => chosen({ tenant: tenant.id, id: person.id })));
  entries.slice(SHOWN).forEach((more) => { more.hidden = true; });
  const all = el("button", { type: "button", class: "link", hidden: entries.length <= SHOWN }, words.t("entrance.all", { count: entries.length }));
  all.addEventListener("click", () => {
    all.hidden = true;
    for (const more of entries) more.hidden = false;
    entries[SHOWN].querySelector("button").focus();
  });
  const visitor = el("button", { type: "button", on: { click: () => chosen({ tenant: tenant.id }) } }, words.t("entrance.visitor"));
  const head = el("div", { class: "tenant" }, el("h3", {}, tenant.name), visitor);
  return el("section", { "aria-label": tenant.name }, head, el("ul", { class: "people" }, ...entries), all);
}

function entry(person, choose) {
  const name = el("span", { class: "name" }, person.name);
  const about = el("span", { class: "about" }, person.about ?? person.id);
  return el("li", {}, el("button", { type: "button", on: { click: choose } }, name, about));
}
