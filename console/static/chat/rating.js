// What a customer thinks of an answer: one to five stars and, if they like, a few words. It can be thought over for an hour.

import { Refused } from "./contract.js";
import { el } from "./dom.js";

const SCORES = [1, 2, 3, 4, 5];
const COMMENT_CHARS_MAX = 2000;

export class Rating {
  // `given` is an earlier rating of this answer, or null.
  constructor(contract, words, path, seq, given) {
    Object.assign(this, { contract, words, path, seq, score: given?.score ?? null });
    this.state = el("p", { class: "state", role: "status" });
    this.comment = el("textarea", { rows: "2", maxlength: String(COMMENT_CHARS_MAX), id: `comment-${seq}`, dir: "auto" });
    this.comment.value = given?.comment ?? "";
    const send = el("button", { type: "submit" }, words.t("rating.send"));
    const label = el("label", { for: `comment-${seq}` }, words.t("rating.comment"));
    this.more = el("div", { class: "more", hidden: true }, label, this.comment, send);
    const form = el("form", { on: { submit: (event) => { event.preventDefault(); this.send(); } } }, this.stars(), this.more, this.state);
    this.node = el("details", { class: "rating" }, el("summary", {}, words.t("rating.title")), form);
    if (given) this.tell("rating.thanks");
  }

  stars() {
    const choices = SCORES.map((score) => {
      const choice = el("input", { type: "radio", name: `score-${this.seq}`, value: String(score), id: `score-${this.seq}-${score}`, checked: score === this.score });
      choice.addEventListener("change", () => this.choose(score));
      const label = el("label", { for: choice.id }, el("span", { class: "visually-hidden" }, this.words.t(`rating.${score}`)));
      return el("span", { class: "star" }, choice, label);
    });
    this.fieldset = el("fieldset", { class: "stars" }, el("legend", {}, this.words.t("rating.legend")), ...choices);
    this.mark();
    return this.fieldset;
  }

  // Stars up to the one chosen are full; the class is for the eye alone.
  mark() {
    [...this.fieldset.querySelectorAll(".star")].forEach((star, n) => star.classList.toggle("full", n < (this.score ?? 0)));
  }

  choose(score) {
    this.score = score;
    this.mark();
    this.more.hidden = false;
    this.state.textContent = "";
  }

  async send() {
    const comment = this.comment.value.trim();
    try {
      await this.contract.post(`${this.path}/ratings`, { seq: this.seq, score: this.score, ...(comment && { comment }) });
      this.more.hidden = true;
      this.tell("rating.thanks");
    } catch (fault) {
      this.tell(fault instanceof Refused && fault.slug === "refused" ? "rating.too_late" : "rating.failed");
    }
  }

  tell(key) {
    this.state.textContent = this.words.t(key);
  }
}
