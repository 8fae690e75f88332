// One conversation as it is lived through: its log read and followed, what is written sent, how it stands looked up.
// It knows nothing of how its bearer came to have a session.

import { NoAnswer, Refused } from "./contract.js";
import { freshId } from "./dom.js";
import { Log } from "./log.js";
import { Outbox } from "./outbox.js";
import { Standing } from "./standing.js";
import { Stream } from "./stream.js";
import { Thread } from "./thread.js";

const LOOK_MS = 1500;
const LOOK_LATER_MS = 6000;
const LOOKS_SOON = 20;
const SEEN_MS = 700;
const AGAIN_MS = 3000;
const TOLD = new Set(["bot_reply", "staff_reply", "proposal", "notice", "action_state"]);

export class Talk {
  // `heard` takes {event(event), edit(text), shelf()}: something new in the log; a text to be changed; something kept.
  constructor({ contract, words, shelf, nodes, heard }) {
    Object.assign(this, { contract, words, shelf, nodes, heard, up: true, over: false, sending: [] });
    this.standing = new Standing(words, nodes);
    const told = { changed: () => this.unsentChanged(), shown: () => this.showUnsent(), sent: (message, seq) => this.sent(message, seq), lost: () => this.begin() };
    this.outbox = new Outbox(contract, shelf, told);
    this.begin();
  }

  get path() {
    return `/conversations/${encodeURIComponent(this.id)}`;
  }

  // Show the conversation that is kept here, from its beginning; where there is none yet, an empty one.
  begin() {
    this.stream?.stop();
    this.log?.end();
    this.thread = new Thread();
    const told = { again: (m) => this.outbox.again(m), discard: (m) => this.outbox.discard(m), edit: (m) => this.edit(m) };
    this.log = new Log(this.nodes.log, this.words, this.contract, told);
    Object.assign(this, { id: null, stream: null, phase: "idle", waiting: null, seen: 0 });
    this.show();
    this.showUnsent();
    this.followOnce();
    this.outbox.flush();
  }

  followOnce() {
    const { id } = this.shelf.talk();
    if (id && this.id === null) {
      this.id = id;
      this.follow(this.thread);
    }
  }

  // Read all that there is, quietly, then what comes.
  async follow(thread) {
    const { log } = this.nodes;
    log.setAttribute("aria-busy", "true");
    try {
      await this.readAll(thread);
    } catch (fault) {
      if (thread === this.thread) this.unread(fault, thread);
      return;
    }
    if (thread !== this.thread) return;
    log.setAttribute("aria-busy", "false");
    this.log.toEnd();
    const heard = { take: (event) => this.take(event, true), line: (up) => this.line(up), over: (refused) => this.unread(refused, thread) };
    this.stream = new Stream(this.contract, `${this.path}/events`, thread.seq, heard).start();
    this.settle();
  }

  async readAll(thread) {
    const given = await this.contract.get(`${this.path}/ratings`).catch(ifRefused({ items: [] }));
    for (const rating of given.items) this.log.ratings.set(rating.seq, rating);
    for (;;) {
      const { events, version } = await this.contract.get(`${this.path}/events?after=${thread.seq}`);
      if (thread !== this.thread) return;
      for (const event of events) this.take(event, false);
      if (!events.length || thread.seq >= version) return;
    }
  }

  unread(fault, thread) {
    if (fault instanceof Refused && fault.status === 404) {
      this.shelf.newTalk();
      this.begin();
      return;
    }
    if (fault instanceof Refused && fault.status === 401) return;
    if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
    this.line(false);
    setTimeout(() => thread === this.thread && !this.over && this.follow(thread), AGAIN_MS);
  }

  take(event, live) {
    if (!this.thread.take(event)) return;
    this.log.add(event, this.thread);
    if (!live) return;
    if (TOLD.has(event.kind)) this.heard.event(event);
    this.settle();
  }

  // What follows from the log as it stands now.
  settle() {
    this.showUnsent();
    if (!this.thread.waitsForAnswer) this.log.offerRating(this.thread.lastAnswer, this.path);
    this.see();
    this.look();
    this.show();
  }

  line(up) {
    this.up = up;
    this.show();
    if (up) this.outbox.flush(true);
  }

  show() {
    this.standing.show(this);
  }

  // Look up how it stands, and again for as long as something is being done or waited for.
  async look(looks = 0) {
    clearTimeout(this.looking);
    const { thread } = this;
    if (!this.id || this.over || !(thread.waitsForAnswer || thread.inFlight || thread.inQueue)) {
      this.phase = "idle";
      return;
    }
    try {
      if (thread.inQueue) this.waiting = await this.contract.get(`${this.path}/waiting`);
      else this.phase = (await this.contract.get(this.path)).phase;
    } catch (fault) {
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
      this.waiting = null; // an old estimate is no estimate
    }
    if (thread !== this.thread) return;
    this.show();
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.look(looks + 1), looks < LOOKS_SOON && !thread.inQueue ? LOOK_MS : LOOK_LATER_MS);
  }

  write(text) {
    this.outbox.add(text, this.thread.seq);
    this.log.toEnd();
  }

  edit(message) {
    this.outbox.discard(message);
    this.heard.edit(message.text);
  }

  // It is in the log; it stays in view until the log's own event is.
  sent(message, seq) {
    this.sending.push({ ...message, seq });
    this.log.sent.add(seq);
    this.followOnce();
  }

  unsentChanged() {
    this.followOnce();
    this.showUnsent();
    this.heard.shelf();
  }

  showUnsent() {
    this.sending = this.sending.filter(({ seq }) => !this.thread.events.has(seq));
    const here = [...this.sending, ...this.shelf.unsent()].filter(({ talk }) => talk === this.shelf.talk().key);
    this.log.showUnsent(here, this.thread, this.delivery);
  }

  // How it stands with what is unsent.
  get delivery() {
    if (!this.contract.token) return "kept_session";
    if (!this.up) return "kept";
    if (this.outbox.busy) return "sending";
    return this.outbox.slowed ? "slowed" : "kept";
  }

  // Ask for a person; asked again after a lost answer, it is the same request.
  async askForPerson() {
    const key = this.shelf.talk().key;
    const asked = this.asked?.talk === key ? this.asked : { talk: key, id: freshId() };
    this.asked = asked;
    const id = await this.outbox.conversation(key);
    const body = { request_id: asked.id, reason: "The customer asked for a person with the button of the chat." };
    await this.contract.post(`/conversations/${encodeURIComponent(id)}/handoff`, body, asked.id);
    this.asked = null;
    this.followOnce();
  }

  startAnew() {
    this.shelf.newTalk();
    this.begin();
    this.heard.shelf();
  }

  // Another tab has kept or dropped something.
  shelfChanged(key) {
    if (this.shelf.talk().key !== key) this.begin();
    else this.unsentHere();
  }

  unsentHere() {
    this.followOnce();
    this.showUnsent();
    this.outbox.flush();
  }

  // Say how far it has been seen, once it is.
  see() {
    clearTimeout(this.seeing);
    if (!this.id || !this.nodes.visible() || this.thread.seq <= this.seen) return;
    this.seeing = setTimeout(() => {
      const seq = this.thread.seq;
      this.contract.put(`${this.path}/seen`, { seq }).then(() => { this.seen = seq; }, ifRefused(null));
    }, SEEN_MS);
  }

  nudge() {
    this.stream?.nudge();
    this.outbox.flush();
    this.see();
  }

  // The network is there again.
  online() {
    this.stream?.renew();
    this.nudge();
  }

  stop() {
    this.over = true;
    this.log.end();
    this.stream?.stop();
    this.outbox.stop();
    clearTimeout(this.looking);
    clearTimeout(this.seeing);
  }
}

// Return what takes a refusal or a lost answer for `instead`, and lets every other fault through.
function ifRefused(instead) {
  return (fault) => {
    if (fault instanceof Refused || fault instanceof NoAnswer) return instead;
    throw fault;
  };
}
