// Messages on their way: kept in the browser before they are sent, sent one after the other, by one tab at a time, under
// an id of their own; so each comes once and in order, whatever breaks off in between.

import { NoAnswer, Refused } from "./contract.js";
import { freshId } from "./dom.js";

const RETRY_MS = 3000;
const RETRY_MAX_MS = 30000;
const OFFLINE_MS = 1000;

export class Outbox {
  // `told` takes {changed(), shown(), sent(message, seq), lost()}: what is kept is otherwise, which other tabs have to know; how it
  // stands is; a message is in the log; its conversation is gone.
  constructor(contract, shelf, told) {
    Object.assign(this, { contract, shelf, told, tries: 0, timer: null, slowed: null, waits: false, busy: false, stopped: false });
  }

  add(text, after) {
    const message = this.shelf.keep({ id: freshId(), text, talk: this.shelf.talk().key, after, refused: null });
    this.told.changed();
    this.flush();
    return message;
  }

  discard(message) {
    this.shelf.drop(message);
    this.told.changed();
    this.flush();
  }

  // Send a message that was refused under a new id, where it stands.
  again(message) {
    this.shelf.drop(message);
    this.shelf.keep({ ...message, id: freshId(), refused: null, talk: this.shelf.talk().key });
    this.told.changed();
    this.flush();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // `sure`: something has just come through, whatever the browser thinks of its connection.
  flush(sure = false) {
    clearTimeout(this.timer);
    if (this.busy || this.stopped || !this.contract.token || !this.next()) return;
    if (!navigator.onLine && !sure) {
      this.timer = setTimeout(() => this.flush(true), RETRY_MAX_MS);
      this.told.shown();
      return;
    }
    Object.assign(this, { busy: true, waits: false, slowed: null, tries: sure ? 0 : this.tries });
    this.told.shown();
    const turn = () => this.drain().catch((fault) => this.later(fault));
    this.alone(turn).finally(() => this.done());
  }

  // What was written while the last one was on its way goes out now, unless a wait was called for.
  done() {
    this.busy = false;
    this.told.shown();
    if (!this.waits) this.flush();
  }

  // Run `turn` while no other tab does; where a browser has no locks for a frame, there are no other tabs to share with.
  async alone(turn) {
    let ran = false;
    const once = () => { ran = true; return turn(); };
    try {
      await navigator.locks.request(`${this.shelf.at}.sending`, once);
    } catch (fault) {
      if (ran) throw fault;
      await turn();
    }
  }

  async drain() {
    for (;;) {
      const next = this.next();
      if (!next || this.stopped) return;
      await this.send(next);
      this.tries = 0;
    }
  }

  next() {
    return this.shelf.unsent().find((message) => !message.refused);
  }

  async send(message) {
    try {
      const id = await this.conversation(message.talk);
      const body = { client_message_id: message.id, text: message.text };
      const { seq } = await this.contract.post(`/conversations/${id}/messages`, body);
      this.shelf.drop(message);
      this.told.sent(message, seq);
      this.told.changed();
    } catch (fault) {
      if (!(fault instanceof Refused) || fault.passes || fault.status === 401) throw fault;
      if (fault.status === 404) this.gone(message);
      else this.shelf.keep({ ...message, refused: { slug: fault.slug } });
      this.told.changed();
    }
  }

  // Return the id of the conversation of a talk; it begins where it has not: under its key always the same one.
  async conversation(key) {
    const talk = this.shelf.talk();
    if (talk.key === key && talk.id) return talk.id;
    const { id } = await this.contract.post("/conversations", {}, key);
    this.shelf.begun(key, id);
    this.told.changed();
    return id;
  }

  // The conversation is not there any more: what was unsent goes into a new one.
  gone(message) {
    if (this.shelf.talk().key === message.talk) {
      this.shelf.newTalk();
      this.told.lost();
    }
    for (const unsent of this.shelf.unsent()) {
      if (unsent.talk === message.talk) this.shelf.keep({ ...unsent, talk: this.shelf.talk().key });
    }
  }

  later(fault) {
    this.waits = true;
    if (fault instanceof Refused && fault.status === 401) return;
    if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
    const backOff = Math.min(RETRY_MAX_MS, (fault instanceof Refused ? RETRY_MS : OFFLINE_MS) * 2 ** this.tries);
    this.tries += 1;
    this.timer = setTimeout(() => this.flush(), Math.max(backOff, (fault.retryAfterS ?? 0) * 1000));
    this.slowed = fault instanceof Refused ? fault.slug : null;
  }
}
