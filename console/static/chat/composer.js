// Where one writes: Enter sends, Shift+Enter begins a line, the draft is kept, and files are refused with a sentence.

const DRAFT_MS = 250;

export class Composer {
  // `told` takes {send(text), draft(text), files()}.
  constructor(form, told) {
    this.field = form.querySelector("textarea");
    this.told = told;
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("input", () => this.changed());
    document.addEventListener("paste", (event) => this.refuse(event, event.clipboardData));
    document.addEventListener("dragover", (event) => carriesFiles(event.dataTransfer) && event.preventDefault());
    document.addEventListener("drop", (event) => this.refuse(event, event.dataTransfer));
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.send();
  }

  send() {
    const text = this.field.value.trim();
    this.field.focus();
    if (!text) return;
    this.set("");
    this.told.draft("");
    this.told.send(text);
  }

  changed() {
    clearTimeout(this.keeping);
    this.grow();
    this.keeping = setTimeout(() => this.told.draft(this.field.value), DRAFT_MS);
  }

  set(text) {
    clearTimeout(this.keeping);
    this.field.value = text;
    this.grow();
  }

  // Put a text back to be changed, before whatever is there.
  give(text) {
    this.set([text, this.field.value].filter(Boolean).join("\n"));
    this.told.draft(this.field.value);
    this.field.focus();
  }

  grow() {
    this.field.rows = Math.min(6, Math.max(1, this.field.value.split("\n").length));
  }

  refuse(event, carried) {
    if (!carriesFiles(carried)) return;
    event.preventDefault();
    this.told.files();
  }
}

function carriesFiles(carried) {
  return Boolean(carried) && [...carried.types].includes("Files");
}
