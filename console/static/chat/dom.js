// Building pieces of the page. Text from people is only ever text: no markup in it is read, but plain web addresses.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, heard] of Object.entries(value)) made.addEventListener(event, heard);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
const NOT_ITS_END = /[.,;:!?)\]}»”’]+$/u;

// Return the text as nodes: line breaks stay (by style), and http(s) addresses become links that give nothing away.
export function linked(text) {
  const nodes = [];
  let after = 0;
  for (const found of text.matchAll(ADDRESS)) {
    const shown = found[0].replace(NOT_ITS_END, "");
    const href = webAddress(shown);
    if (href === null) continue;
    nodes.push(text.slice(after, found.index), el("a", { href, rel: "noopener noreferrer", target: "_blank" }, shown));
    after = found.index + shown.length;
  }
  nodes.push(text.slice(after));
  return nodes.filter((node) => node !== "");
}

function webAddress(shown) {
  try {
    const url = new URL(shown);
    const plain = ["http:", "https:"].includes(url.protocol) && url.hostname && !url.username && !url.password;
    return plain ? url.href : null;
  } catch {
    return null;
  }
}

// An id that no other tab or device has made.
export function freshId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
