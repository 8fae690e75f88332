// The HTTP contract as the chat speaks it: with its bearer token and without cookies. An answer that is no success is
// `Refused`; no answer at all is `NoAnswer`, after which nobody knows what happened, and a repeat is safe.

const TIMEOUT_MS = 20000;

export class NoAnswer extends Error {}

export class Refused extends Error {
  constructor(status, told, retryAfterS) {
    super(`${status}`);
    this.status = status;
    this.slug = String(told.type ?? "").split("/").pop();
    this.reason = told.reason ?? null;
    this.retryAfterS = retryAfterS;
  }

  // Whether the same request may go through later: nothing is wrong with it.
  get passes() {
    return this.status >= 500 || this.status === 429 || this.status === 408 || this.slug === "idempotency-in-progress";
  }
}

export class Contract {
  constructor() {
    this.token = null;
    this.ended = () => {}; // called when the session has run out
  }

  get(path) {
    return this.ask("GET", path);
  }

  post(path, body, key) {
    return this.ask("POST", path, body, key);
  }

  put(path, body) {
    return this.ask("PUT", path, body);
  }

  async ask(method, path, body, key) {
    const headers = { Accept: "application/json", ...(key && { "Idempotency-Key": key }) };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await this.send(path, { method, headers, signal, body: body && JSON.stringify(body) });
    try {
      return await answer.json();
    } catch {
      throw new NoAnswer("the answer broke off");
    }
  }

  // Return the open answer of an event stream that begins after `seq`.
  stream(path, seq, signal) {
    return this.send(path, { headers: { Accept: "text/event-stream", "Last-Event-ID": String(seq) }, signal });
  }

  async send(path, { headers, ...more }) {
    const mine = this.token;
    if (mine) headers.Authorization = `Bearer ${mine}`;
    let answer;
    try {
      answer = await fetch(path, { ...more, headers, credentials: "omit", cache: "no-store", redirect: "error" });
    } catch (fault) {
      throw new NoAnswer(fault.message);
    }
    if (answer.ok) return answer;
    const told = await answer.json().catch(() => ({}));
    if (answer.status === 401 && mine && mine === this.token) this.ended();
    throw new Refused(answer.status, told, Number(answer.headers.get("Retry-After")) || null);
  }
}
