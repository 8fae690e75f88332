// What the log says, put together: pure. Events may come twice or late; the order is that of their seq alone.

const OPEN = new Set(["proposed", "awaiting_approval"]);
const IN_FLIGHT = new Set(["submitted", "unknown"]);
const SPOKEN = new Set(["bot_reply", "staff_reply", "proposal"]);

export class Thread {
  constructor() {
    Object.assign(this, { events: new Map(), actions: new Map(), owner: "bot", handoff: null, seq: 0, asked: 0, answered: 0 });
  }

  // Take one event; return whether it is new.
  take(event) {
    if (this.events.has(event.seq)) return false;
    this.events.set(event.seq, event);
    this.seq = Math.max(this.seq, event.seq);
    if (event.kind === "customer_message") this.asked = Math.max(this.asked, event.seq);
    if (SPOKEN.has(event.kind)) this.answered = Math.max(this.answered, event.answers_through ?? event.seq);
    if (event.kind === "owner_changed") this.owner = event.owner;
    if (event.kind === "handoff") this.handoff = { id: event.handoff_id, status: event.queue_status };
    if (event.operation_id) this.act(event);
    return true;
  }

  act(event) {
    const fresh = { id: event.operation_id, proposals: [], decisions: new Map(), state: "proposed", cause: null };
    const action = this.actions.get(event.operation_id) ?? fresh;
    this.actions.set(action.id, action);
    if (event.kind === "proposal") {
      action.proposals.push(event);
      action.decisions.clear(); // a proposal that is made anew asks everybody again
    }
    if (event.kind === "approval") action.decisions.set(event.role, event);
    if (event.kind === "action_state") Object.assign(action, { state: event.state, cause: event.cause });
  }

  get waitsForAnswer() {
    return this.owner === "bot" && this.asked > this.answered;
  }

  get handedOver() {
    return this.handoff !== null && this.handoff.status !== "done";
  }

  get inQueue() {
    return this.handoff?.status === "waiting";
  }

  get inFlight() {
    return [...this.actions.values()].some((action) => IN_FLIGHT.has(action.state));
  }

  // The last answer, which is the one that can be rated.
  get lastAnswer() {
    const answers = [...this.events.values()].filter(({ kind }) => kind === "bot_reply" || kind === "staff_reply");
    return answers.reduce((last, event) => (event.seq > (last?.seq ?? 0) ? event : last), null);
  }
}

// How the card of a proposal stands: what it can still be used for, and what is said of it.
export function cardState(action, proposal, now) {
  if (action.proposals.at(-1) !== proposal) return "replaced";
  if (IN_FLIGHT.has(action.state)) return "checking";
  if (action.state === "confirmed") return "done";
  if (action.state === "rejected") return ["superseded", "expired", "withdrawn", "declined"].includes(action.cause) ? action.cause : "rejected";
  const mine = action.decisions.get("customer");
  if (mine?.decision === "reject") return "declined";
  const missing = (proposal.required_approvals ?? []).filter((role) => !action.decisions.has(role));
  if (OPEN.has(action.state) && missing.includes("customer")) return Date.parse(proposal.expires_at) <= now ? "expired" : "asks";
  return missing.length ? "staff" : "agreed";
}

// Whether a message that is kept here already stands in the log, though its answer has not come back.
export function standsInLog(thread, message, claimed) {
  for (const event of thread.events.values()) {
    const mine = event.kind === "customer_message" && event.seq > message.after && event.text === message.text;
    if (mine && !claimed.has(event.seq)) {
      claimed.add(event.seq);
      return true;
    }
  }
  return false;
}
