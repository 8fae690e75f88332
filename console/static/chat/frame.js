// The chat inside a frame on an organisation's page, and that page: they talk by messages, each checking where the
// other's come from. The page is believed only where it is one of the organisation's sites, and is told no text.

const MARK = "interlock-chat";

export class Host {
  // What the page says before there is a `listener` is kept for it: it speaks as soon as the frame is loaded.
  constructor(allowed) {
    Object.assign(this, { origin: null, early: [], listener: null });
    window.addEventListener("message", (event) => {
      const known = event.source === window.parent && [...allowed, location.origin].includes(event.origin);
      if (!known || event.data?.mark !== MARK) return;
      this.origin = event.origin;
      if (this.listener) this.listener(event.data);
      else this.early.push(event.data);
    });
  }

  // Call `listener` with every message {type, …} of the page that frames this one.
  listen(listener) {
    this.listener = listener;
    for (const data of this.early.splice(0)) listener(data);
  }

  tell(type, more = {}) {
    if (this.origin !== null) window.parent.postMessage({ mark: MARK, type, ...more }, this.origin);
  }
}
