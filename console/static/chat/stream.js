// One conversation's events as they come, over fetch since the token goes in a header. What breaks off goes on after the
// last event that was taken; between two attempts it waits a little longer each time.

import { Refused } from "./contract.js";

const SILENCE_MS = 40000; // longer than two heartbeats
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 15000;

export class Stream {
  // `heard` takes {take(event), line(up), over(refused)}: events in order, whether the line stands, why it is given up.
  constructor(contract, path, after, heard) {
    Object.assign(this, { contract, path, after, heard, tries: 0, stopped: false, abort: null, wake: () => {} });
  }

  start() {
    this.run();
    return this;
  }

  stop() {
    this.stopped = true;
    this.abort?.abort();
    this.wake();
  }

  // Try again now, where it waits.
  nudge() {
    this.tries = 0;
    this.wake();
  }

  // Begin the line anew: after a change of networks the old one may hang without breaking.
  renew() {
    this.abort?.abort();
    this.nudge();
  }

  async run() {
    while (!this.stopped) {
      const refused = await this.once();
      if (this.stopped) return;
      if (refused && !refused.passes) {
        this.heard.over(refused);
        return;
      }
      await this.pause(refused?.retryAfterS);
    }
  }

  async once() {
    this.abort = new AbortController();
    try {
      const answer = await this.contract.stream(this.path, this.after, this.abort.signal);
      this.tries = 0;
      this.heard.line(true);
      await this.read(answer.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch (fault) {
      if (!this.stopped && this.tries > 0) this.heard.line(false);
      if (fault instanceof Refused) return fault;
    }
    return null;
  }

  async read(reader) {
    let text = "";
    for (;;) {
      const { value, done } = await this.watched(reader.read());
      if (done) return;
      const frames = (text + value).split("\n\n");
      text = frames.pop();
      for (const frame of frames) this.take(frame);
    }
  }

  // Give up on a line that has gone silent.
  watched(reading) {
    const timer = setTimeout(() => this.abort.abort(), SILENCE_MS);
    return reading.finally(() => clearTimeout(timer));
  }

  take(frame) {
    const data = frame.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
    if (!data) return;
    const event = JSON.parse(data);
    this.after = Math.max(this.after, event.seq);
    this.heard.take(event);
  }

  pause(atLeastS) {
    const most = navigator.onLine ? PAUSE_MS * 2 ** this.tries : PAUSE_MAX_MS; // `nudge` ends the pause once it is back
    const backOff = Math.min(PAUSE_MAX_MS, most) * (0.5 + Math.random() / 2);
    this.tries += 1;
    return new Promise((go) => {
      const timer = setTimeout(go, Math.max(backOff, (atLeastS ?? 0) * 1000));
      this.wake = () => { clearTimeout(timer); go(); };
    });
  }
}
