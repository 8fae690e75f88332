// Tells what was changed (`il:done` {said, undo?, reload?}) as a toast, with the way back while there is one.
// The seal goes with every POST that a script makes: `Interlock.post(path, fields)`.
"use strict";

window.Interlock.post = (path, fields = {}, more = {}) => {
  const headers = { "HX-Request": "true", ...JSON.parse(document.body.getAttribute("hx-headers:inherited")) };
  return fetch(path, { method: "POST", headers, body: new URLSearchParams(fields), ...more });
};

document.addEventListener("il:done", ({ detail }) => {
  const { said, undo = null, reload = false } = detail ?? {};
  if (reload) {
    location.reload();
    return;
  }
  if (!said) return;
  const back = undo && (async () => {
    const answer = await Interlock.post(undo.path, undo.fields);
    const bad = answer.headers.has("X-Problem");
    Interlock.toast(bad ? "This could not be taken back any more." : "Taken back.", { bad });
    document.dispatchEvent(new CustomEvent("il:changed", { detail: { conversation_id: null, seq: 0 } }));
  });
  Interlock.toast(said, { undo: back, ms: undo ? 10000 : 5000 });
});

// What did not come through is said, and never put into the page.
document.addEventListener("htmx:before:response", (event) => {
  const { ctx } = event.detail;
  if (ctx.response.status < 500) return;
  event.preventDefault();
  Interlock.toast("The server could not do this just now. Try again in a moment.", { bad: true });
});
document.addEventListener("htmx:error", ({ detail }) => {
  if (detail.ctx?.request?.method && detail.ctx.request.method !== "GET") {
    Interlock.toast("No answer came. It is not known whether it was done; once the connection is back, the page shows it.", { bad: true, ms: 10000 });
  }
});
