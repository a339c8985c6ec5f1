// Small helpers for elements and for numbers in sentences.

let root = document;

/** Be in a part of a page, such as the output of a cell of a notebook. */
export function within(part) {
  root = part;
}

export const one = (selector) => root.querySelector(selector);
export const every = (selector) => root.querySelectorAll(selector);
export const listen = (kind, handle) => root.addEventListener(kind, handle);

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Make an element of a page with attributes and children. */
export const make = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

/** Make an element of a picture. */
export const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** Draw a line through places, or the shape inside it. */
export const path = (name, places, closed = false) =>
  svg("path", { class: name, d: `M${places.map((place) => place.join(" ")).join("L")}${closed ? "Z" : ""}` });

export const circle = (name, [cx, cy], r) => svg("circle", { class: name, cx, cy, r });
export const text = (name, [x, y], words, anchor = "middle") =>
  svg("text", { class: name, x, y, "text-anchor": anchor }, words);

/** Write a number with some digits and a proper minus sign. */
export function number(value, digits = 3) {
  const large = Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e15;
  const words = large ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(digits)));
  return words.replace("-", "−").replace(/^−0$/, "0");
}

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
export const colour = (label) => (label > 0 ? "orange" : "blue");
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
