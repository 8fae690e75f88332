// The chat page: from a session to a conversation, alone or in a frame on an organisation's page.

import { Composer } from "./composer.js";
import { Contract, NoAnswer, Refused } from "./contract.js";
import { el } from "./dom.js";
import { demoPeople, showEntrance } from "./entrance.js";
import { Host } from "./frame.js";
import { Sessions } from "./session.js";
import { keeps, Shelf } from "./shelf.js";
import { Talk } from "./talk.js";
import { loadWords } from "./words.js";

const FROM = { bot_reply: "assistant", staff_reply: "person", proposal: "assistant", notice: "notice", action_state: "notice" };
const find = (id) => document.getElementById(id);

class Chat {
  // `host` is the page around this one, or null.
  constructor(page, words, host) {
    Object.assign(this, { page, words, host, talk: null, people: null, open: !page.embedded, unread: 0 });
    this.contract = new Contract();
    this.contract.ended = () => this.sessionEnded();
    this.sessions = new Sessions(this.contract, { reset: () => this.forgotten() });
    this.sessions.heard.add((data) => data.type === "shelf" && data.at === this.talk?.shelf.at && this.shelfChanged(data));
    this.composer = new Composer(find("composer"), {
      send: (text) => this.talk.write(text),
      draft: (text) => this.keepDraft(text),
      files: () => this.note(words.t("files.refused")),
    });
    this.listen();
  }

  listen() {
    find("person").addEventListener("click", () => this.askForPerson());
    find("anew").addEventListener("click", () => { find("menu").open = false; this.talk?.startAnew(); this.composer.field.focus(); });
    find("leave").addEventListener("click", () => { find("menu").open = false; this.leave(); });
    find("close").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.escape());
    window.addEventListener("online", () => this.talk?.online());
    window.addEventListener("offline", () => this.talk?.line(false));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.talk?.nudge());
  }

  // ---- in
  async start() {
    if (this.host && window.parent !== window) {
      this.host.listen((told) => this.told(told)); // the page around says when, and as whom
      return;
    }
    const identity = takeIdentity();
    const wanted = identity ? { tenant: this.page.tenant, identity } : { tenant: this.page.tenant };
    const session = (await this.sessions.find(wanted)) ?? (identity && (await this.beginning(() => this.sessions.begin(this.page.tenant, identity))));
    if (session) this.enter(session);
    else await this.welcome();
  }

  async welcome() {
    this.people ??= await demoPeople(this.contract, (filling) => this.alert(this.words.t(filling ? "entrance.filling" : "entrance.no_answer")));
    this.alert("");
    const tenants = (this.people ?? []).filter((tenant) => !this.page.tenant || tenant.id === this.page.tenant);
    if (tenants.length && !this.page.embedded) showEntrance(this.scene("entrance"), this.words, tenants, (choice) => this.choose(choice));
    else if (this.page.tenant) await this.asVisitor(this.page.tenant);
    else this.alert(this.words.t("entrance.no_tenant"));
  }

  async choose({ tenant, id }) {
    const session = await this.beginning(() => (id ? this.sessions.beginAs(tenant, id) : this.sessions.begin(tenant)));
    if (session) this.enter(session);
  }

  async asVisitor(tenant) {
    const session = await this.beginning(() => this.sessions.begin(tenant));
    if (session) this.enter(session);
  }

  // Return the session that `begin` begins, or null after having said why there is none.
  async beginning(begin) {
    this.alert("");
    try {
      return await begin();
    } catch (fault) {
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
      const passes = fault instanceof NoAnswer || fault.passes;
      const key = passes ? "session.no_answer" : fault.status === 401 ? "session.not_vouched" : "session.refused";
      this.alert(this.words.t(key), ["session.retry", () => this.beginning(begin).then((session) => session && this.enter(session))]);
      return null;
    }
  }

  // Return the id of the conversation that a customer is in, where this browser cannot keep it; else null.
  async latestOf({ kind }) {
    if (kind !== "customer") return null;
    try {
      const { items } = await this.contract.post("/conversations/search", { limit: 1 });
      return items.find(({ owner }) => owner !== "closed")?.id ?? null;
    } catch (fault) {
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
      return null;
    }
  }

  // `id`: the conversation to go on with, where none is kept here.
  enter(session, id = null) {
    const before = this.talk?.shelf;
    const carried = before && this.talk.kind === "anonymous" ? { draft: before.read("draft"), unsent: before.unsent() } : null;
    this.talk?.stop();
    const shelf = new Shelf(session);
    if (carried && shelf.at !== before.at) carry(carried, before, shelf);
    if (id && !shelf.read("talk")) shelf.begun(shelf.talk().key, id);
    this.scene("conversation");
    this.alert("");
    find("leave").hidden = this.page.embedded; // there the page around it says who one is
    find("visitor").hidden = session.kind !== "anonymous";
    find("sign-in").hidden = !(session.kind === "anonymous" && this.people && !this.page.embedded);
    const nodes = { ...conversationNodes(), visible: () => this.open && document.visibilityState === "visible" };
    const heard = { event: (event) => this.happened(event), edit: (text) => this.composer.give(text), shelf: () => this.tellTabs() };
    this.talk = new Talk({ contract: this.contract, words: this.words, shelf, nodes, heard });
    this.talk.kind = session.kind;
    this.composer.set(shelf.read("draft") ?? "");
    this.host?.tell("session", { state: "begun", kind: session.kind });
    if (this.open) this.composer.field.focus({ preventScroll: true });
    this.nameOf();
  }

  async nameOf() {
    try {
      const me = await this.contract.get("/me");
      find("name").textContent = me.tenant_name;
      document.title = this.words.t("title", { name: me.tenant_name });
    } catch (fault) {
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault; // it is a name; the page has one
    }
  }

  // ---- out
  sessionEnded() {
    const ended = this.sessions.now;
    this.sessions.leave();
    this.talk?.stop();
    this.host?.tell("session", { state: "ended" });
    const known = ended && ended.kind !== "anonymous";
    this.alert(this.words.t(known ? "session.ended" : "session.ended_visitor"), ["session.again", () => this.again(ended)]);
    this.talk?.showUnsent();
  }

  async again(ended) {
    if (ended?.demo) return this.choose({ tenant: ended.tenant, id: ended.id });
    if (ended?.identity && this.host) return this.host.tell("identity-needed");
    if (ended?.identity) return this.alert(this.words.t("session.on_site"));
    return this.asVisitor(ended?.tenant ?? this.page.tenant);
  }

  leave() {
    this.talk?.stop();
    this.talk = null;
    this.sessions.leave();
    this.composer.set("");
    this.host?.tell("session", { state: "ended" });
    this.welcome();
  }

  forgotten() {
    this.talk?.stop();
    this.talk = null;
    this.sessions.leave();
    this.composer.set("");
    this.scene(null);
    if (this.host) this.host.tell("reset"); // the page around it lets this frame go
    else this.welcome();
  }

  // ---- between the tabs, and with the page around
  tellTabs() {
    const { shelf } = this.talk ?? {};
    if (shelf) this.sessions.say({ type: "shelf", at: shelf.at, talk: shelf.talk().key });
  }

  shelfChanged({ talk, draft }) {
    if (talk) this.talk.shelfChanged(talk);
    if (draft !== undefined && document.activeElement !== this.composer.field) this.composer.set(draft);
  }

  keepDraft(text) {
    if (!this.talk) return;
    this.talk.shelf.write("draft", text);
    this.sessions.say({ type: "shelf", at: this.talk.shelf.at, draft: text });
  }

  async told({ type, identity }) {
    if (type === "boot") await this.boot(identity ?? null);
    if (type === "open") { this.open = true; this.unreadNow(0); this.talk?.nudge(); this.composer.field.focus({ preventScroll: true }); }
    if (type === "close") this.open = false;
    if (type === "reset") { this.sessions.reset(this.page.tenant); this.forgotten(); }
  }

  async boot(identity) {
    const { tenant } = this.page;
    const wanted = identity ? { tenant, identity } : { tenant, kind: "anonymous" };
    const begin = async () => (await this.sessions.find(wanted)) ?? (await this.sessions.begin(tenant, identity));
    const session = await this.beginning(begin);
    if (session) this.enter(session, keeps ? null : await this.latestOf(session));
    this.host.tell("ready", { kind: session?.kind ?? null, name: this.page.name });
  }

  happened(event) {
    this.host?.tell("message", { seq: event.seq, from: FROM[event.kind] });
    if (!this.open) this.unreadNow(this.unread + 1);
  }

  unreadNow(count) {
    this.unread = count;
    this.host?.tell("unread", { count });
  }

  escape() {
    if (find("menu").open) {
      find("menu").open = false;
      find("menu").querySelector("summary").focus();
    } else this.close();
  }

  close() {
    if (!this.host) return;
    this.open = false;
    this.host.tell("close");
  }

  // ---- on the page
  async askForPerson() {
    const button = find("person");
    if (!this.talk || button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      await this.talk.askForPerson();
      this.alert("");
      this.host?.tell("handoff");
    } catch (fault) {
      if (!(fault instanceof Refused || fault instanceof NoAnswer)) throw fault;
      if (fault.status !== 401) this.alert(this.words.t(fault.status === 403 ? "person.not_allowed" : "person.failed"));
      this.talk?.show();
    }
  }

  scene(shown) {
    for (const id of ["entrance", "conversation"]) find(id).hidden = id !== shown;
    for (const id of ["person", "menu"]) find(id).hidden = shown !== "conversation";
    return shown && find(shown);
  }

  // Say something until the next word is typed.
  note(text) {
    this.alert(text);
    this.composer.field.addEventListener("input", () => find("alert").textContent === text && this.alert(""), { once: true });
  }

  // Say something that matters now, with a button where something can be done about it.
  alert(text, choice = null) {
    const node = find("alert");
    const button = choice && el("button", { type: "button", on: { click: choice[1] } }, this.words.t(choice[0]));
    node.replaceChildren(...(text ? [el("p", {}, text)] : []), ...(button ? [button] : []));
    node.hidden = !text;
  }
}

function conversationNodes() {
  return { log: find("log"), who: find("who"), progress: find("progress"), queue: find("queue"), offline: find("offline"), person: find("person") };
}

// A visitor's words go along into the session that follows; a customer's stay that customer's.
function carry({ draft, unsent }, before, shelf) {
  const { key } = shelf.talk();
  for (const message of unsent) {
    before.drop(message);
    shelf.keep({ ...message, talk: key, after: 0 });
  }
  if (draft) shelf.write("draft", draft);
  before.write("draft", null);
}

// An identity in the fragment never reaches a server's log, and does not stay in the address.
function takeIdentity() {
  const identity = new URLSearchParams(location.hash.slice(1)).get("identity");
  if (identity) history.replaceState(null, "", location.pathname + location.search);
  return identity;
}

function pageOf({ tenant, name, embedded, origins, languages }) {
  return { tenant: tenant || null, name, embedded: embedded === "true", origins: JSON.parse(origins), languages: JSON.parse(languages) };
}

async function main() {
  const page = pageOf(document.body.dataset);
  const host = page.embedded ? new Host(page.origins) : null;
  const wished = new URLSearchParams(location.search).getAll("language");
  const words = await loadWords([...wished, ...navigator.languages], page.languages);
  document.documentElement.lang = words.language;
  document.documentElement.dir = "ltr"; // each of the languages is written so; texts of people find their own
  words.fill(document);
  document.title = words.t("title", { name: page.name || "Interlock" });
  const chat = new Chat(page, words, host);
  find("close").hidden = !page.embedded;
  find("sign-in").addEventListener("click", () => chat.leave());
  document.body.dataset.ready = "true";
  await chat.start();
}

main();
