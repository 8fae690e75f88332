// The chat's own words in the language of whoever reads it, with amounts and times as that language writes them.
// What the assistant, the ledger and people say comes from the server and is shown as it is.

const CATALOGUE = new URL("words.json", import.meta.url);

export class Words {
  // `locale` is the reader's own variety of the language: how times and amounts are written.
  constructor(language, texts, locale = language) {
    this.language = language;
    this.locale = locale;
    this.texts = texts;
  }

  // Return the text of a key; `{name}` in it becomes `values.name`.
  t(key, values = {}) {
    return this.texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  }

  has(key) {
    return Object.hasOwn(this.texts, key);
  }

  money(minor, currency) {
    const format = new Intl.NumberFormat(this.locale, { style: "currency", currency });
    return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
  }

  clock(at, timeZone) {
    return new Intl.DateTimeFormat(this.locale, { hour: "2-digit", minute: "2-digit", timeZone }).format(new Date(at));
  }

  day(at, timeZone) {
    return new Intl.DateTimeFormat(this.locale, { weekday: "long", day: "numeric", month: "long", timeZone }).format(new Date(at));
  }

  // A time of today by its clock alone, any other with its day.
  moment(at) {
    const today = new Date().toDateString() === new Date(at).toDateString();
    return today ? this.clock(at) : `${this.day(at)}, ${this.clock(at)}`;
  }

  // A length of time in whole minutes or hours, rounded up: what is promised is not too little.
  length(seconds) {
    const [count, unit] = seconds > 5400 ? [Math.ceil(seconds / 3600), "hour"] : [Math.max(1, Math.ceil(seconds / 60)), "minute"];
    return new Intl.NumberFormat(this.locale, { style: "unit", unit, unitDisplay: "long" }).format(count);
  }

  // Put the words into every element that names one: its text by data-word, its name by data-label.
  fill(root) {
    for (const found of root.querySelectorAll("[data-word]")) found.textContent = this.t(found.dataset.word);
    for (const found of root.querySelectorAll("[data-label]")) found.setAttribute("aria-label", this.t(found.dataset.label));
    for (const found of root.querySelectorAll("[data-hint]")) found.setAttribute("placeholder", this.t(found.dataset.hint));
  }
}

// Return the words in the first language wished for that there is; `allowed` empty: in any that there is.
export async function loadWords(wished, allowed = []) {
  const catalogue = await (await fetch(CATALOGUE)).json();
  const spoken = Object.keys(catalogue).filter((one) => !allowed.length || allowed.includes(one));
  const language = chosen(wished, spoken) ?? allowed.find((one) => one in catalogue) ?? "en";
  const locale = wished.find((tag) => languageOf(tag) === language && Intl.NumberFormat.supportedLocalesOf([tag]).length);
  return new Words(language, catalogue[language], locale);
}

function chosen(wished, spoken) {
  return wished.map(languageOf).find((language) => spoken.includes(language)) ?? null;
}

function languageOf(tag) {
  return String(tag).toLowerCase().split("-")[0];
}
