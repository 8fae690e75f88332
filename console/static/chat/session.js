// Whose chat this is: a session's token, kept for this tab alone and handed to another tab of this browser that asks.

import { forgetAll, storeOr } from "./shelf.js";

const NAME = "interlock.chat.session";
const ASK_MS = 200;
const SPARE_S = 60; // a session that is about to end is not begun with

const kept = storeOr(() => window.sessionStorage);

export class Sessions {
  // `reset` is called when another tab has forgotten everybody of `tenant`.
  constructor(contract, { reset }) {
    this.contract = contract;
    this.now = null;
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
    this.heard = new Set();
    this.channel?.addEventListener("message", ({ data }) => {
      if (data.type === "who?" && this.now && fits(this.now, data.wanted)) this.say({ type: "who", session: this.now });
      if (data.type === "reset" && this.now?.tenant === data.tenant) reset();
      for (const listen of this.heard) listen(data);
    });
  }

  say(data) {
    this.channel?.postMessage(data);
  }

  // Return a session that this browser has and that fits `wanted`: {tenant?, kind?, identity?}; else null.
  async find(wanted) {
    const own = read();
    if (own && fits(own, wanted)) return this.use(own);
    const other = wanted.identity ? null : await this.ask(wanted);
    return other ? this.use(other) : null;
  }

  ask(wanted) {
    if (!this.channel) return null;
    return new Promise((found) => {
      const listen = (data) => data.type === "who" && fits(data.session, wanted) && end(data.session);
      const timer = setTimeout(() => end(null), ASK_MS);
      const end = (session) => { clearTimeout(timer); this.heard.delete(listen); found(session); };
      this.heard.add(listen);
      this.say({ type: "who?", wanted });
    });
  }

  // Begin as the customer whom the tenant vouches for in `identity` or, without it, as a visitor. Raises Refused.
  async begin(tenant, identity = null) {
    this.contract.token = null;
    const begun = await this.contract.post("/sessions", { tenant, ...(identity && { identity }) });
    return this.use({ ...begun, identity });
  }

  // Begin as one of a demo's people. Raises Refused.
  async beginAs(tenant, id) {
    this.contract.token = null;
    return this.use({ ...(await this.contract.post("/sessions/dev", { tenant, kind: "customer", id })), demo: true });
  }

  use(session) {
    this.now = session;
    this.contract.token = session.token;
    kept.setItem(NAME, JSON.stringify(session));
    return session;
  }

  leave() {
    this.now = null;
    this.contract.token = null;
    kept.removeItem(NAME);
  }

  // Forget everybody of a tenant in this browser, in its other tabs too.
  reset(tenant) {
    this.leave();
    forgetAll(tenant);
    this.say({ type: "reset", tenant });
  }
}

function read() {
  try {
    return JSON.parse(kept.getItem(NAME));
  } catch {
    return null;
  }
}

function fits(session, { tenant, kind, identity }) {
  if (session.expires_at < Date.now() / 1000 + SPARE_S) return false;
  if (identity) return session.tenant === tenant && session.identity === identity;
  return (!tenant || session.tenant === tenant) && (!kind || session.kind === kind);
}
