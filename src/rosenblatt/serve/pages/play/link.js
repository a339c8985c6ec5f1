// All that is on the page as the part of an address after #, and back.
//
//   #points=p1,1~n0,1&affine=0&order=worst&seed=7&kernel=polynomial&degree=3
//
// p is a positive point, n a negative one, in their stored order. Numbers are written so that they
// come back bit for bit; settings are left out where they are the usual ones.

import { ORDERS } from "./orders.js";

export const USUAL = { affine: true, order: "cycle", seed: 1, kernel: "none", degree: 2, gamma: 2 };
export const MOST_POINTS = 200;
const FARTHEST = 1e6;
const NEAREST = 1e-6; // closer to an axis, a point is taken for one on it by everybody who looks

/** What the settings may be. */
const MEANING = {
  affine: (word) => ({ 0: false, 1: true })[word],
  order: (word) => (Object.hasOwn(ORDERS, word) ? word : undefined),
  seed: (word) => (/^\d{1,9}$/.test(word) ? Number(word) : undefined),
  kernel: (word) => (["none", "polynomial", "gaussian"].includes(word) ? word : undefined),
  degree: (word) => (/^[2-4]$/.test(word) ? Number(word) : undefined),
  gamma: (word) => (Number(word) > 0 && Number(word) <= 100 ? Number(word) : undefined),
};

const written = (value) => String(typeof value === "boolean" ? Number(value) : value);

/** Write points and settings. */
export function toLink({ points, settings }) {
  const each = points.map(({ x, y, label }) => `${label > 0 ? "p" : "n"}${x},${y}`);
  const changed = Object.keys(USUAL).filter((name) => settings[name] !== USUAL[name]);
  const parts = changed.map((name) => `${name}=${written(settings[name])}`);
  return `#${[`points=${each.join("~")}`, ...parts].join("&")}`;
}

function toPoint(word) {
  const [, sign, x, y] = /^([pn])([-+.\de]+),([-+.\de]+)$/.exec(word) ?? [];
  const usable = (text) => text && (Number(text) === 0
    || (Math.abs(Number(text)) <= FARTHEST && Math.abs(Number(text)) >= NEAREST));
  if (!usable(x) || !usable(y)) throw new Error(`“${word}” is not a point such as p0.5,-1`);
  return { x: Number(x) + 0, y: Number(y) + 0, label: sign === "p" ? 1 : -1 };
}

/** Read points and settings; gives null for an empty link, and throws a sentence for a bad one. */
export function fromLink(link) {
  const text = link.replace(/^#/, "");
  if (!text) return null;
  const pairs = Object.fromEntries(text.split("&").map((part) => part.split("=").map(decodeURIComponent)));
  const { points = "", ...words } = pairs;
  const settings = { ...USUAL };
  for (const [name, word] of Object.entries(words)) {
    const value = Object.hasOwn(MEANING, name) ? MEANING[name](word) : undefined;
    if (value === undefined) throw new Error(`“${name}=${word}” means nothing here`);
    settings[name] = value;
  }
  const all = points.split("~").filter(Boolean).map(toPoint);
  if (all.length > MOST_POINTS) throw new Error(`it has more than ${MOST_POINTS} points`);
  return { points: all, settings };
}
