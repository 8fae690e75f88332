// The card that is the consent: exactly what would happen, how much and to where, as the ledger has it, and two buttons.
// It acts only on the digest that it shows, and goes dead with whatever it was about.

import { NoAnswer, Refused } from "./contract.js";
import { el } from "./dom.js";
import { cardState } from "./thread.js";

const MONEY = [["amount_minor", "currency", "card.amount"], ["new_price_minor", "new_price_currency", "card.price"], ["due_minor", "due_currency", "card.due"]];
const THINGS = [["order_id", "card.order"], ["payment_id", "card.payment"], ["subscription_id", "card.subscription"], ["plan", "card.plan"], ["new_plan", "card.new_plan"]];
const TOLD = new Set([
  ...MONEY.flatMap(([minor, currency]) => [minor, currency]), ...THINGS.map(([name]) => name), "kind", "customer_id", "resource_version",
  "payment_version", "item_ids", "new_item_ids", "shown", "address", "address_id", "payment_method_id", "method_label", "label",
  "difference_minor", "difference_currency", "reason", "channel",
]);
const BACK = new Set(["refund", "refund_duplicate_charge", "cancel_order", "return_items"]); // money that goes back as it came
const REASONS = ["digest_changed", "expired", "already_decided", "not_waiting", "policy_changed", "evidence_changed", "consumed"];
const LIVE = new Set(["asks", "staff", "agreed", "checking"]);
const GOOD = new Set(["done"]);

// Return what a payload says as [label, text], in the order in which one asks: what, how much, to where, why.
export function rows(payload, words) {
  const told = THINGS.filter(([name]) => payload[name]).map(([name, label]) => [words.t(label), payload[name]]);
  const items = payload.shown?.length ? payload.shown : (payload.item_ids ?? []);
  if (items.length) told.push([words.t("card.items"), items.join("\n")]);
  for (const [minor, currency, label] of MONEY) {
    if (payload[minor] && payload[currency]) told.push([words.t(label), words.money(payload[minor], payload[currency])]);
  }
  if (payload.difference_minor !== undefined) told.push(difference(payload, words));
  const where = destination(payload, words);
  if (where) told.push(where);
  if (payload.reason) told.push([words.t("card.reason"), words.has(`reason.${payload.reason}`) ? words.t(`reason.${payload.reason}`) : payload.reason]);
  for (const [name, value] of Object.entries(payload)) {
    if (!TOLD.has(name) && value !== null && value !== "") told.push([name.replaceAll("_", " "), plain(value)]);
  }
  return told;
}

function difference({ difference_minor: minor, difference_currency: currency }, words) {
  const label = minor > 0 ? "card.you_pay" : minor < 0 ? "card.you_get" : "card.difference";
  return [words.t(label), words.money(Math.abs(minor), currency)];
}

function destination(payload, words) {
  if (payload.address?.length) return [words.t("card.address"), payload.address.join("\n")];
  if (payload.kind === "store_credit") return [words.t("card.to"), words.t("card.to_credit")];
  if (payload.channel === "verified_email") return [words.t("card.to"), words.t("card.to_email")];
  const method = payload.method_label || payload.label || payload.payment_method_id;
  if (method) return [words.t("card.method"), method];
  return BACK.has(payload.kind) && payload.amount_minor ? [words.t("card.to"), words.t("card.original_method")] : null;
}

function plain(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export class Card {
  constructor(contract, words, action, proposal) {
    Object.assign(this, { contract, words, action, proposal, look: null, fault: null, sending: null });
    this.heading = el("h2", { id: `card-${proposal.seq}` });
    this.summary = el("p", { class: "summary", dir: "auto" }, proposal.summary);
    this.facts = el("dl", { class: "facts" });
    this.state = el("p", { class: "state", role: "status" });
    this.buttons = el("div", { class: "buttons" });
    this.node = el("section", { class: "confirmation", "aria-labelledby": this.heading.id }, this.heading, this.summary, this.facts, this.state, this.buttons);
    this.update();
    this.read();
  }

  get stand() {
    if (this.look && this.look.payload_digest !== this.proposal.payload_digest) return "replaced";
    return cardState(this.action, this.proposal, Date.now());
  }

  async read() {
    try {
      this.look = await this.contract.get(`/actions/${encodeURIComponent(this.action.id)}`);
      this.fault = null;
    } catch (fault) {
      this.fault = fault instanceof Refused && fault.status === 404 ? "card.gone" : "card.unreadable";
      if (fault instanceof NoAnswer) setTimeout(() => this.read(), 4000);
    }
    this.update();
  }

  update() {
    const { words, stand } = this;
    const asks = stand === "asks";
    this.node.classList.toggle("dead", !LIVE.has(stand));
    this.node.classList.toggle("good", GOOD.has(stand));
    this.heading.textContent = words.t(asks ? "card.title" : "card.title_past");
    if (this.look && !this.facts.childElementCount) this.facts.append(...this.factNodes());
    const told = this.sending ? "card.sending" : (this.fault ?? `card.is_${stand}`);
    const until = { time: words.moment(this.proposal.expires_at) };
    this.state.textContent = words.t(told === "card.is_asks" ? "card.until" : told, until);
    this.offer(asks && this.look !== null);
    if (asks) this.expireInTime();
  }

  factNodes() {
    const shown = rows(this.look.payload, this.words);
    return shown.flatMap(([label, text]) => [el("dt", {}, label), el("dd", { dir: "auto" }, text)]);
  }

  offer(open) {
    if (!open) {
      const held = this.buttons.contains(document.activeElement);
      this.buttons.replaceChildren();
      if (held) focusOn(this.node);
      return;
    }
    if (!this.buttons.childElementCount) {
      this.buttons.append(this.button("approve", "card.confirm", "primary"), this.button("reject", "card.not_now", ""));
    }
    for (const button of this.buttons.children) button.setAttribute("aria-disabled", String(Boolean(this.sending)));
  }

  button(decision, label, look) {
    return el("button", { type: "button", class: look, "aria-describedby": this.heading.id, on: { click: () => this.decide(decision) } }, this.words.t(label));
  }

  expireInTime() {
    clearTimeout(this.timer);
    const left = Date.parse(this.proposal.expires_at) - Date.now();
    if (left > 0 && left < 2 ** 31) this.timer = setTimeout(() => this.update(), left + 50);
  }

  async decide(decision) {
    if (this.sending || this.stand !== "asks") return;
    const { id } = this.action;
    this.sending = decision;
    this.fault = null;
    this.update();
    try {
      const body = { payload_digest: this.proposal.payload_digest, decision, role: "customer" };
      await this.contract.post(`/actions/${encodeURIComponent(id)}/approvals`, body, `${id}:${this.proposal.seq}:${decision}`);
      this.action.decisions.set("customer", { decision }); // the event says so too, in a moment
    } catch (fault) {
      this.fault = refusal(fault);
      if (fault instanceof Refused && fault.slug === "approval-stale") this.read().then(() => { this.fault = refusal(fault); this.update(); });
    }
    this.sending = null;
    this.update();
  }
}

function refusal(fault) {
  if (!(fault instanceof Refused)) return "card.no_answer";
  if (fault.slug === "approval-stale" && REASONS.includes(fault.reason)) return `card.stale_${fault.reason}`;
  if (fault.status === 403) return "card.not_allowed";
  return fault.passes ? "card.no_answer" : "card.refused";
}

function focusOn(node) {
  node.tabIndex = -1;
  node.focus({ preventScroll: true });
}
