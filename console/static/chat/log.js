// The log on the page: one entry for each event, in order, then what is on its way. Only the newest are read aloud.

import { Card } from "./card.js";
import { el, linked } from "./dom.js";
import { Rating } from "./rating.js";
import { standsInLog } from "./thread.js";

const NEAR_END_PX = 120;
const WHY = {
  "invalid-request": "invalid", "body-too-large": "invalid", "customer-blocked": "blocked", forbidden: "blocked", "message-conflict": "conflict",
};
const STATES = { submitted: "checking", unknown: "checking", confirmed: "done", rejected: "not_done" };

export class Log {
  // `told` takes {again(message), discard(message), edit(message)}.
  constructor(node, words, contract, told) {
    Object.assign(this, { node, words, contract, told, cards: [], shown: new Map(), sent: new Set(), last: 0, rating: null, ratings: new Map() });
    this.entries = el("div", { class: "entries" });
    this.waiting = el("div", { class: "entries" });
    node.replaceChildren(el("p", { class: "greeting" }, words.t("greeting")), this.entries, this.waiting);
    this.follows = true; // the end, until one scrolls back
    node.onscroll = () => { this.follows = this.atEnd(); };
    this.watch = new ResizeObserver(() => this.follows && this.toEnd());
    for (const grown of [node, this.entries, this.waiting]) this.watch.observe(grown);
  }

  end() {
    this.watch.disconnect();
  }

  // Show an event that is new to the thread.
  add(event, thread) {
    const entry = this.entry(event, thread);
    if (entry) this.place(event.seq, entry);
    for (const card of this.cards) if (card.action.id === event.operation_id) card.update();
  }

  place(seq, entry) {
    const later = seq < this.last ? [...this.shown.keys()].filter((other) => other > seq) : [];
    this.entries.insertBefore(entry, later.length ? this.shown.get(Math.min(...later)) : null);
    this.shown.set(seq, entry);
    this.last = Math.max(this.last, seq);
  }

  entry(event, thread) {
    switch (event.kind) {
      case "customer_message": return this.bubble(event, "mine", "who.you");
      case "bot_reply": return this.bubble(event, "theirs bot", "who.bot");
      case "staff_reply": return this.bubble(event, "theirs person", "who.person");
      case "notice": return this.line(event, "notice", event.text);
      case "action_state": return this.line(event, `notice ledger ${STATES[event.state] ?? ""}`, event.text);
      case "proposal": return this.proposal(event, thread);
      case "owner_changed": return event.owner === "human" && event.actor === "staff" ? this.line(event, "divider", this.words.t("person_joined")) : null;
      default: return null;
    }
  }

  bubble(event, look, who) {
    const text = el("p", { class: "text", dir: "auto" }, ...linked(event.text));
    return el("article", { class: `message ${look}` }, this.head(event, who), text);
  }

  head(event, who) {
    const time = el("time", { datetime: event.at }, this.words.moment(event.at));
    return el("p", { class: "head" }, el("span", { class: "who" }, this.words.t(who)), " ", time);
  }

  line(event, look, text) {
    const time = el("time", { datetime: event.at, class: "visually-hidden" }, this.words.moment(event.at));
    return el("p", { class: look, dir: "auto" }, ...linked(text), " ", time);
  }

  proposal(event, thread) {
    const automated = event.automated !== false;
    const head = this.head(event, automated ? "who.bot" : "who.person");
    const look = `message theirs ${automated ? "bot" : "person"}`;
    if (!event.required_approvals?.includes("customer")) {
      const text = el("p", { class: "text", dir: "auto" }, ...linked(event.summary));
      return el("article", { class: look }, head, text);
    }
    const card = new Card(this.contract, this.words, thread.actions.get(event.operation_id), event);
    this.cards.push(card);
    return el("article", { class: `${look} wide` }, head, card.node);
  }

  // Show what is unsent, with how it stands.
  showUnsent(messages, thread, state) {
    const claimed = new Set(this.sent);
    const open = messages.filter((message) => message.seq || !standsInLog(thread, message, claimed));
    this.waiting.replaceChildren(...open.map((message) => this.unsent(message, state)));
  }

  unsent(message, state) {
    const line = el("p", { class: "delivery" }, this.delivery(message, state));
    if (message.refused) line.append(" ", ...this.choices(message));
    const text = el("p", { class: "text", dir: "auto" }, ...linked(message.text));
    return el("article", { class: `message mine unsent${message.refused ? " refused" : ""}` }, text, line);
  }

  delivery({ seq, refused }, state) {
    if (!refused) return this.words.t(`message.${seq ? "sent" : state}`);
    return this.words.t("message.refused", { why: this.words.t(`message.why_${WHY[refused.slug] ?? "other"}`) });
  }

  choices(message) {
    const button = (key, act) => el("button", { type: "button", class: "link", on: { click: () => act(message) } }, this.words.t(key));
    return [button("message.again", this.told.again), " ", button("message.edit", this.told.edit), " ", button("message.discard", this.told.discard)];
  }

  // Offer to rate the last answer; an earlier offer that was not taken goes away.
  offerRating(answer, path) {
    if (!answer || this.rating?.seq === answer.seq) return;
    if (this.rating && this.rating.score === null) this.rating.node.remove();
    this.rating = new Rating(this.contract, this.words, path, answer.seq, this.ratings.get(answer.seq) ?? null);
    this.shown.get(answer.seq)?.append(this.rating.node);
  }

  atEnd() {
    return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < NEAR_END_PX;
  }

  toEnd() {
    this.follows = true;
    this.node.scrollTop = this.node.scrollHeight;
  }
}
