// Mistakes against corrections, under the bound that is proven for them.

import { number, one, plural, svg } from "../play/dom.js";

const WIDTH = 360;
const HEIGHT = 220;
const BOX = { left: 34, right: 10, top: 12, bottom: 28 };

/** Draw the curve of the totals: its points are corrections, mistakes and bound. */
export function drawCurve({ curve, corrections, mistakes, bound, bound_at: at }) {
  const points = [[0, 0, null], ...curve];
  const known = points.filter(([k, , value]) => value !== null && k < at).map(([k, , value]) => [k, value]);
  const proven = bound === null ? [] : [...known, [at, bound]];
  const last = Math.max(10, corrections);
  const highest = Math.max(4, mistakes);
  // A bound far above the mistakes leaves the picture, which would else show a flat line.
  const top = 1.1 * Math.max(highest, Math.min(4 * highest, bound ?? 0));
  const x = (k) => BOX.left + (k / last) * (WIDTH - BOX.left - BOX.right);
  const y = (value) => HEIGHT - BOX.bottom - (Math.min(value, top) / top) * (HEIGHT - BOX.top - BOX.bottom);
  const path = (name, all) => svg("path", { class: name, d: `M${all.map(([k, value]) => `${x(k)} ${y(value)}`).join("L")}` });
  const text = (name, px, py, words, anchor) => svg("text", { class: name, x: px, y: py, "text-anchor": anchor }, words);
  const parts = [
    svg("path", { class: "axis", d: `M${BOX.left} ${BOX.top}V${HEIGHT - BOX.bottom}H${WIDTH - BOX.right}` }),
    text("tick", BOX.left - 6, y(0) + 4, "0", "end"),
    text("tick", BOX.left - 6, y(highest) + 4, number(highest), "end"),
    text("tick", x(last), HEIGHT - 8, plural(last, "correction"), "end"),
    path("curve", points.map(([k, value]) => [k, value])),
    svg("circle", { class: "dot", cx: x(corrections), cy: y(mistakes), r: 4 }),
  ];
  if (proven.length) {
    const [k, value] = proven.at(-1);
    parts.push(path("bound", proven), svg("circle", { class: "bounddot", cx: x(k), cy: y(value), r: 3.5 }), text("boundname", x(k), Math.max(y(value) - 6, BOX.top + 8), `bound ${number(value)}`, "end"));
  }
  one("#curve").replaceChildren(...parts);
  one("#curvename").textContent = caption(corrections, mistakes, bound, at);
}

function caption(corrections, mistakes, bound, at) {
  if (!corrections) return "Each correction that the learner would have got wrong counts as a mistake.";
  const made = `${plural(mistakes, "mistake")} in ${plural(corrections, "correction")}`;
  if (bound === null) return `${made}. No bound is proven yet.`;
  const most = number(Math.floor(bound));
  if (at < corrections) return `${made}. The bound of the first ${number(at)} is ${most}.`;
  return `${made}; in any order at most ${most} are possible.`;
}
