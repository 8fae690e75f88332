// What the chat keeps in this browser for one principal of one tenant: which conversation, what is unsent, the draft.
// All tabs share it; each unsent message has an entry of its own, so that two tabs never overwrite each other's.

import { freshId } from "./dom.js";

const PREFIX = "interlock.chat";

// Where a browser lets nothing be kept, it is kept for as long as the page is open.
export function storeOr(open) {
  try {
    const store = open();
    store.setItem(`${PREFIX}.probe`, "1");
    store.removeItem(`${PREFIX}.probe`);
    return store;
  } catch {
    return new Passing();
  }
}

class Passing extends Map {
  getItem(name) { return this.get(name) ?? null; }
  setItem(name, value) { this.set(name, String(value)); }
  removeItem(name) { this.delete(name); }
  key(n) { return [...this.keys()][n] ?? null; }
  get length() { return this.size; }
}

const kept = storeOr(() => window.localStorage);

// Whether what is kept outlives the page: in a frame on another site, some browsers keep nothing.
export const keeps = !(kept instanceof Passing);

function namesUnder(prefix) {
  return Array.from({ length: kept.length }, (_, n) => kept.key(n)).filter((name) => name?.startsWith(prefix));
}

// Forget everything of a tenant's people in this browser.
export function forgetAll(tenant) {
  for (const name of namesUnder(`${PREFIX}.${tenant}.`)) kept.removeItem(name);
}

export class Shelf {
  constructor({ tenant, kind, id }) {
    this.at = `${PREFIX}.${tenant}.${kind}.${encodeURIComponent(id)}`;
    this.last = 0;
  }

  read(name) {
    const raw = kept.getItem(`${this.at}.${name}`);
    try {
      return raw === null ? null : JSON.parse(raw);
    } catch {
      return null;
    }
  }

  write(name, value) {
    if (value === null || value === "") kept.removeItem(`${this.at}.${name}`);
    else kept.setItem(`${this.at}.${name}`, JSON.stringify(value));
  }

  // The conversation is named by the key that it is begun under, so that two tabs that begin it begin the same one.
  talk() {
    const talk = this.read("talk") ?? { key: freshId(), id: null };
    this.write("talk", talk);
    return talk;
  }

  begun(key, id) {
    if (this.talk().key === key) this.write("talk", { key, id });
  }

  newTalk() {
    this.write("talk", { key: freshId(), id: null });
    return this.talk();
  }

  // Unsent messages in the order in which they were written.
  unsent() {
    return namesUnder(`${this.at}.out.`).sort().map((name) => this.read(name.slice(this.at.length + 1))).filter(Boolean);
  }

  keep(message) {
    const order = message.order ?? (this.last = Math.max(Date.now(), this.last + 1));
    const entry = { ...message, order };
    this.write(entryOf(entry), entry);
    return entry;
  }

  drop(message) {
    this.write(entryOf(message), null);
  }
}

function entryOf({ order, id }) {
  return `out.${String(order).padStart(15, "0")}.${id}`;
}
