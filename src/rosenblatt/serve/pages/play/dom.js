// Small helpers for elements and for numbers in sentences.

export const one = (selector) => document.querySelector(selector);

/** Make an SVG element. */
export function svg(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Write a number with some digits and a proper minus sign. */
export function number(value, digits = 3) {
  const short = Number(value.toPrecision(digits));
  const large = Math.abs(value) >= 10 ** digits && Math.abs(value) < 1e15;
  const text = large ? Math.round(value).toLocaleString("en-GB") : String(short);
  return text.replace("-", "−").replace(/^−0$/, "0");
}

export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
export const colour = (label) => (label > 0 ? "orange" : "blue");
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
