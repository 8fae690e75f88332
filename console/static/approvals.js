// Approvals: choosing several that are alike, how long one was looked at, and the keys.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { current } = Interlock.rows("approval");
  const dialog = document.getElementById("batch");
  const seen = new Map(); // operation id → when it came into view
  const picks = () => [...document.querySelectorAll("#batch-form input[name=item]")];

  function told(minor, currency) {
    const format = new Intl.NumberFormat("en", { style: "currency", currency });
    return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
  }

  // Only what is alike goes together: the first one chosen decides what else may be.
  function count() {
    const chosen = picks().filter((one) => one.checked);
    const rows = chosen.map((one) => one.closest(".row-item"));
    const alike = rows.length ? new Set([rows[0].id.replace("approval-", ""), ...rows[0].dataset.batch.split(" ")]) : null;
    for (const one of picks()) one.disabled = alike !== null && !alike.has(one.value);
    const bar = document.getElementById("batch-bar");
    if (!bar) return;
    const sum = rows.reduce((total, row) => total + Number(row.dataset.minor), 0);
    const currency = rows[0]?.dataset.currency;
    const words = rows.length ? `${rows.length} selected${currency ? `, ${told(sum, currency)} together` : ""}` : "Nothing selected";
    const text = document.getElementById("batch-sum");
    if (text.textContent !== words) text.textContent = words;
    document.getElementById("batch-open").disabled = rows.length === 0;
  }

  function look() {
    const shown = document.querySelector("#detail [data-operation]")?.dataset.operation;
    for (const ident of seen.keys()) if (ident !== shown) seen.delete(ident);
    if (shown && !seen.has(shown)) seen.set(shown, Date.now());
  }

  document.addEventListener("change", (event) => { if (event.target.name === "item") count(); });
  document.addEventListener("click", (event) => {
    const alike = event.target.closest("[data-alike]");
    if (!alike) return;
    const row = alike.closest(".row-item");
    const chosen = new Set([alike.dataset.alike, ...row.dataset.batch.split(" ")]);
    for (const one of picks()) one.checked = chosen.has(one.value);
    count();
  });
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector("[name=looked_s]");
    const from = seen.get(event.target.closest("[data-operation]")?.dataset.operation);
    if (field && from) field.value = String(Math.round((Date.now() - from) / 1000));
  }, true);
  document.addEventListener("htmx:after:swap", () => {
    count();
    look();
    if (dialog.childElementCount && !dialog.open) {
      dialog.showModal();
    }
  });
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    document.getElementById("batch-open")?.focus();
    document.dispatchEvent(new CustomEvent("il:changed", { detail: { conversation_id: null, seq: 0 } }));
  });

  const detail = document.getElementById("detail");
  Interlock.keys.add(
    { keys: "x", says: "Select it, to decide several together", run: () => current()?.querySelector("[name=item]:not(:disabled)")?.click() },
    { keys: "b", says: "Decide the selected ones together", run: () => document.getElementById("batch-open")?.click() },
    { keys: "c", says: "Claim it, or give it back", run: () => Interlock.keys.press("c", detail) },
    { keys: "n", says: "Write a note", run: () => document.getElementById("note")?.focus() },
    { keys: "a", says: "To “Approve”; Enter presses it", run: () => Interlock.keys.focus("a", detail) },
    { keys: "r", says: "To “Reject”; Enter presses it", run: () => Interlock.keys.focus("r", detail) },
  );
  count();
  look();
});
