// How things stand, said truly: who has the conversation, what is being done, where one is in the queue.

import { el } from "./dom.js";

const BUSY = new Set(["understanding", "gathering", "deciding", "drafting", "dispatching", "reconciling", "handing_off"]);

// Return the key of who has the conversation.
export function whoKey(thread) {
  if (thread.owner === "closed") return "standing.closed";
  if (thread.owner !== "human") return "standing.bot";
  return thread.handoff?.status === "claimed" ? "standing.person" : "standing.waiting";
}

// Return the key of what is being done right now, or null. Nothing counts as done before its outcome is known.
export function progressKey(thread, phase) {
  if (thread.inFlight) return phase === "dispatching" ? "progress.dispatching" : "progress.reconciling";
  if (!thread.waitsForAnswer) return null;
  return BUSY.has(phase) ? `progress.${phase}` : "progress.waiting";
}

// Return what somebody who waits for a person is told: the measured truth, or that there is none.
export function queueTexts(waiting, words) {
  if (!waiting || waiting.queue_status !== "waiting") return [];
  const texts = [];
  if (waiting.open === false) {
    const at = waiting.opens_at;
    const zone = waiting.timezone;
    texts.push(at ? words.t("queue.closed_until", { day: words.day(at, zone), time: words.clock(at, zone), zone }) : words.t("queue.closed"));
    texts.push(words.t("queue.kept"));
    return texts;
  }
  if (waiting.position) texts.push(words.t("queue.position", { position: waiting.position }));
  const known = waiting.estimate_s !== null && waiting.estimate_s !== undefined;
  texts.push(known ? words.t("queue.estimate", { length: words.length(waiting.estimate_s) }) : words.t("queue.no_estimate"));
  return texts;
}

export class Standing {
  constructor(words, nodes) {
    Object.assign(this, { words, ...nodes });
  }

  show({ thread, phase, waiting, up }) {
    this.say(this.who, this.words.t(whoKey(thread)));
    this.who.dataset.owner = whoKey(thread).split(".")[1];
    const doing = progressKey(thread, phase);
    this.say(this.progress, doing ? this.words.t(doing) : "");
    this.progress.hidden = doing === null;
    const texts = thread.inQueue ? queueTexts(waiting, this.words) : [];
    if (this.queue.dataset.told !== texts.join("\n")) {
      this.queue.dataset.told = texts.join("\n");
      this.queue.replaceChildren(...texts.map((text) => el("p", {}, text)));
    }
    this.queue.hidden = texts.length === 0;
    this.offline.hidden = up;
    const asked = thread.handedOver || thread.owner === "human";
    this.person.setAttribute("aria-disabled", String(asked));
    const here = asked && whoKey(thread) === "standing.person";
    this.say(this.person, this.words.t(here ? "person.here" : asked ? "person.asked" : "person.ask"));
  }

  // Change a text only where it is another one: what has not changed is not read aloud again.
  say(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }
}
