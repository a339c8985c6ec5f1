// The list of examples: marks, reasons, and buttons to correct them.

import { make, number } from "../play/dom.js";

/** Put what the learner is unsure about first; the rest stays as it came, the newest first. */
export function sorted(items) {
  const asks = (item) => item.unsure && item.correction === null;
  return [...items.filter(asks), ...items.filter((item) => !asks(item))];
}

/** The text that stands for an example. */
export const title = (item) => item.subject ?? (item.features ? described(item.features) : "(no subject)");

const described = (features) =>
  Object.entries(features).map(([name, value]) => `${name} ${number(value)}`).join(", ");

const when = (seconds) => {
  const date = new Date(1000 * seconds);
  const today = date.toDateString() === new Date().toDateString();
  return today ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { day: "numeric", month: "short" });
};

/** Give the row of an example. */
export function row(item, labels, { selected, open, changed }) {
  const said = item.label ?? "I don't know";
  const side = labels.indexOf(item.label);
  const mark = make("span", { class: `mark side${side}` }, said);
  const doubts = item.unsure && item.correction === null ? [make("span", { class: "doubt" }, "unsure")] : [];
  const head = make("div", { class: "head" }, mark, ...doubts,
    make("span", { class: "title" }, title(item)), make("span", { class: "when" }, when(item.at)));
  const from = item.sender ? [make("div", { class: "sender" }, item.sender)] : [];
  const element = make("li", { "data-id": item.id, tabindex: selected ? 0 : -1 },
    head, ...from, reasons(item, labels, open), buttons(item, labels));
  if (selected) element.setAttribute("aria-current", "true");
  element.classList.toggle("changed", changed);
  element.classList.toggle("corrected", item.correction !== null);
  return element;
}

/** Give what weighed most: for the first label above 0, for the second below. */
function reasons(item, labels, open) {
  const shown = item.reasons.slice(0, open ? undefined : 3).map(({ name, weight }) => {
    const sum = `adds ${number(weight)} to the score; above 0 is ${labels[0]}`;
    const signed = `${weight > 0 ? "+" : ""}${number(weight, 2)}`;
    return make("span", { class: `reason side${weight > 0 ? 0 : 1}`, title: sum }, `${name} ${signed}`);
  });
  const score = open ? [make("span", { class: "score" }, `score ${number(item.score)}`)] : [];
  return make("div", { class: "reasons" }, ...shown, ...score);
}

/** Give a button for each label; of features, one for labels that nobody has given yet. */
function buttons(item, labels) {
  const button = (k, words, attributes) =>
    make("button", { type: "button", "data-label": k, "aria-label": `${words}: ${title(item)}`, ...attributes }, words);
  const known = labels.map((label, k) => button(k, String(label), { "aria-pressed": item.correction === label }));
  return make("div", { class: "teach" }, ...known, ...(item.features ? [button(-1, "other …")] : []));
}
