// Mistakes against corrections, under the bound that is proven for them.

import { circle, number, one, path, plural, svg, text } from "../play/dom.js";

const [WIDTH, HEIGHT] = [360, 220];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, WIDTH - 10, 12, HEIGHT - 28];

/** Draw the curve of the totals: its points are corrections, mistakes and bound. */
export function drawCurve({ curve, corrections, mistakes, bound, bound_at: at }) {
  const last = Math.max(10, corrections);
  const highest = Math.max(4, mistakes);
  // A bound far above the mistakes leaves the picture, which would else show a flat line.
  const top = 1.1 * Math.max(highest, Math.min(4 * highest, bound ?? 0));
  const place = ([k, value]) =>
    [LEFT + (k / last) * (RIGHT - LEFT), BOTTOM - (Math.min(value, top) / top) * (BOTTOM - TOP)];
  const known = curve.filter(([k, , value]) => value !== null && k < at).map(([k, , value]) => [k, value]);
  const proven = (bound === null ? [] : [...known, [at, bound]]).map(place);
  one("#curve").replaceChildren(
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}` }),
    text("tick", [LEFT - 6, BOTTOM + 4], "0", "end"),
    text("tick", [LEFT - 6, place([0, highest])[1] + 4], number(highest), "end"),
    text("tick", [RIGHT, HEIGHT - 8], plural(last, "correction"), "end"),
    path("curve", [[0, 0], ...curve].map(place)),
    circle("dot", place([corrections, mistakes]), 4),
    ...(proven.length ? named(proven, `bound ${number(bound)}`) : []),
  );
  one("#curvename").textContent = caption(corrections, mistakes, bound, at);
}

function named(places, words) {
  const [x, y] = places.at(-1);
  return [path("bound", places), circle("bounddot", [x, y], 3.5),
    text("boundname", [Math.max(x, LEFT + 84), Math.max(y - 7, TOP + 4)], words, "end")];
}

function caption(corrections, mistakes, bound, at) {
  if (!corrections) return "Each correction that the learner would have got wrong counts as a mistake.";
  const made = `${plural(mistakes, "mistake")} in ${plural(corrections, "correction")}`;
  if (bound === null) return `${made}. No bound is proven yet.`;
  const most = number(Math.floor(bound));
  if (at < corrections) return `${made}. The bound of the first ${number(at)} is ${most}.`;
  return `${made}; in any order at most ${most} are possible.`;
}
