// Writing in a conversation: a reply or a note, kept while it is not sent, sent once, with macros by "/".
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { id, page } = Interlock.conversation;
  const form = document.getElementById("composer");
  const text = document.getElementById("text");
  const ident = document.getElementById("message-id");
  const send = document.getElementById("send");
  const take = document.getElementById("take-to-reply");
  const macros = document.getElementById("macros");
  const stateLine = document.getElementById("composer-state");
  const kept = `interlock.composer.${id}`;
  let mode = "reply";
  let tried = null; // the words that went out under the id in the form, where that is not known to have worked

  const mine = () => document.getElementById("owner-now")?.dataset.mine === "yes";
  let had = mine();
  function show() {
    if (mine() && !had && !text.value) mode = "reply"; // who has just taken it over means to answer
    had = mine();
    const note = mode === "note";
    send.hidden = !note && !mine();
    take.hidden = note || mine();
    form.classList.toggle("noting", note);
    form.setAttribute("action", `${page}/${note ? "notes" : "replies"}`);
    form.setAttribute("hx-post", `${page}/${note ? "notes" : "replies"}`);
    document.getElementById("composer-hint").hidden = note;
    document.getElementById("text-label").textContent = note ? "Note for the staff" : "Reply to the customer";
    send.firstChild.textContent = note ? "Keep the note " : "Send ";
    stateLine.textContent = note ? "Only the staff see it." : mine() ? "The customer gets it at once." : "Only who has the conversation can reply. What you type is kept.";
    for (const button of form.querySelectorAll(".mode")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }
  function choose(to) {
    mode = to;
    show();
    keep();
    text.focus();
  }
  function keep() {
    if (text.value) sessionStorage.setItem(kept, JSON.stringify({ text: text.value, mode, id: ident.value, tried }));
    else sessionStorage.removeItem(kept);
  }
  const found = JSON.parse(sessionStorage.getItem(kept) ?? "null");
  if (found) {
    text.value = found.text;
    mode = found.mode;
    tried = found.tried;
    ident.value = found.id;
  }
  show();

  form.querySelectorAll(".mode").forEach((button) => button.addEventListener("click", () => choose(button.dataset.mode)));
  // The same words under the same id are the same reply; other words are another one.
  document.addEventListener("htmx:config:request", ({ detail }) => {
    if (detail.ctx.sourceElement !== form) return;
    const words = `${mode} ${text.value}`;
    if (tried !== null && tried !== words) {
      ident.value = crypto.randomUUID().replaceAll("-", "");
      detail.ctx.request.body?.set?.("client_message_id", ident.value);
    }
    tried = words;
    detail.ctx.request.action = form.getAttribute("action");
    send.disabled = true;
    keep();
  });
  document.addEventListener("htmx:finally:request", ({ detail }) => {
    if (detail.ctx.sourceElement === form) send.disabled = false;
  });
  document.addEventListener("il:done", ({ detail }) => {
    if (!detail?.sent) return;
    text.value = "";
    tried = null;
    ident.value = crypto.randomUUID().replaceAll("-", "");
    keep();
    text.focus();
  });
  document.addEventListener("htmx:after:swap", show);

  // Macros: "/" at the beginning of a line, then what one looks for.
  let options = [];
  let at = 0;
  let asked = 0;
  const wanted = () => text.value.slice(0, text.selectionStart).match(/(?:^|\n)\/([^\n]{0,60})$/)?.[1];
  async function look() {
    const q = wanted();
    if (q === undefined || mode === "note") return close(); // a macro is an answer
    const turn = ++asked;
    const query = new URLSearchParams({ q });
    const answer = await fetch(`/macros?${query}`).catch(() => null);
    if (turn !== asked) return;
    const found = answer?.ok ? (await answer.json()).items : [];
    const own = (one) => (one.language === form.dataset.language ? 0 : 1);
    options = found.sort((one, other) => own(one) - own(other)).slice(0, 8);
    at = 0;
    draw(q);
  }
  function draw(q) {
    macros.replaceChildren(...options.map((one, n) => {
      const item = document.createElement("li");
      item.id = `macro-${n}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(n === at));
      const title = document.createElement("strong");
      title.textContent = one.title;
      const hint = document.createElement("span");
      hint.textContent = `${one.language} · ${one.body.slice(0, 90)}`;
      item.append(title, hint);
      item.addEventListener("mousedown", (event) => { event.preventDefault(); insert(one); });
      return item;
    }));
    if (!options.length) {
      const none = document.createElement("li");
      none.setAttribute("role", "option");
      none.setAttribute("aria-disabled", "true");
      none.setAttribute("aria-selected", "false");
      none.textContent = q ? `No macro is called “${q}”.` : "There are no macros yet.";
      macros.append(none);
    }
    macros.hidden = false;
    text.setAttribute("aria-activedescendant", options.length ? `macro-${at}` : "");
  }
  function insert(one) {
    const before = text.value.slice(0, text.selectionStart).replace(/\/[^\n]{0,60}$/, "");
    const after = text.value.slice(text.selectionStart);
    text.value = before + one.body + after;
    text.setSelectionRange(before.length + one.body.length, before.length + one.body.length);
    close();
    keep();
  }
  function close() {
    asked++;
    macros.hidden = true;
    text.removeAttribute("aria-activedescendant");
  }
  text.addEventListener("input", () => {
    keep();
    look();
    document.dispatchEvent(new Event("il:typing"));
  });
  text.addEventListener("blur", close);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!send.hidden && !send.disabled && text.value.trim()) form.requestSubmit(send);
      return;
    }
    if (macros.hidden) {
      if (event.key === "Escape") text.blur();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      event.preventDefault();
      at = (at + step + options.length) % options.length;
      draw(wanted());
    } else if (event.key === "Enter" && options.length) {
      event.preventDefault();
      insert(options[at]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
  Interlock.keys.add(
    { keys: "r", says: "Write a reply", run: () => choose("reply") },
    { keys: "n", says: "Write a note", run: () => choose("note") },
    { keys: "/", says: "A macro, at the beginning of a line", run: () => { choose("reply"); text.setRangeText(text.value && !text.value.endsWith("\n") ? "\n/" : "/", text.value.length, text.value.length, "end"); look(); } },
    { keys: "Ctrl+Enter", says: "Send what is written", run: () => false },
  );
});
