// One event stream for all tabs of this browser: a browser keeps only six connections to one address.
// A port is told `{type: "changed", data}` for each change, and `{type: "line", up}` when the stream comes or goes.
"use strict";
const ports = new Set();
let source = null;
let up = null;

function tell(message) {
  for (const port of ports) port.postMessage(message);
}

function line(now) {
  if (now !== up) {
    up = now;
    tell({ type: "line", up });
  }
}

function open() {
  source = new EventSource("/events/staff");
  source.addEventListener("open", () => line(true));
  source.addEventListener("error", () => {
    line(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(open, 3000); // it was refused: a session that ended
  });
  source.addEventListener("changed", (event) => tell({ type: "changed", data: JSON.parse(event.data) }));
}

self.addEventListener("connect", (event) => {
  const port = event.ports[0];
  ports.add(port);
  port.addEventListener("message", (message) => {
    if (message.data === "bye") ports.delete(port);
  });
  port.start();
  if (source === null) open();
  else if (up !== null) port.postMessage({ type: "line", up });
});
