// The two quantities of the proof of Theorem 1, mistake by mistake, between their bounds (F6).

import { circle, number, one, path, svg, text } from "./dom.js";

const WIDTH = 460;
const HEIGHT = 170;
const [LEFT, RIGHT, TOP, BOTTOM] = [46, WIDTH - 12, 14, HEIGHT - 26];
const MOST = 300; // places of a curve that are drawn

/** Draw both charts of a run. */
export function drawCharts(run) {
  const { trace, sqradius, star } = run;
  const last = Math.max(8, Math.ceil(1.1 * run.mistakes.length));
  const radius = Math.sqrt(sqradius);
  panel(one("#squares"), last, trace.map(({ sqnorm }) => sqnorm), [{ at: (k) => k * sqradius, words: "k·R²" }]);
  panel(one("#products"), last, star ? trace.map(({ product }) => product) : [], star ? [
    { at: (k) => radius * Math.sqrt(k), words: "R·√k" },
    { at: (k) => k * star.margin, words: "k·γ", below: true }] : []);
}

function panel(picture, last, values, bounds) {
  const highest = Math.max(...values, 0) || 1;
  // A bound far above what it bounds leaves the chart, which would else show a flat line.
  const top = 1.08 * Math.max(highest, Math.min(3 * highest, ...bounds.map(({ at }) => at(last))));
  const bottom = Math.min(0, ...values);
  const x = (k) => LEFT + (k / last) * (RIGHT - LEFT);
  const y = (value) => BOTTOM - ((value - bottom) / (top - bottom)) * (BOTTOM - TOP);
  const scale = { x, y, last, top };
  picture.replaceChildren(...axes(scale), ...bounds.flatMap((bound) => line(bound, scale)), ...curve(values, scale));
  picture.toggleAttribute("hidden", values.length === 0);
}

function curve(values, { x, y }) {
  if (!values.length) return [];
  const step = Math.ceil(values.length / MOST);
  const end = values.length - 1;
  const shown = values.map((value, k) => [x(k), y(value)]).filter((_, k) => k % step === 0 || k === end);
  return [path("curve", shown), circle("dot", shown.at(-1), 4)];
}

function axes({ x, y, last, top }) {
  const nice = round(top / 1.3);
  return [
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${BOTTOM}M${LEFT} ${y(0)}H${RIGHT}` }),
    path("grid", [[LEFT, y(nice)], [RIGHT, y(nice)]]),
    text("tick", [LEFT - 6, y(nice) + 4], number(nice), "end"),
    text("tick", [LEFT - 6, y(0) + 4], "0", "end"),
    text("tick", [x(last), HEIGHT - 8], `${number(last)} mistakes`, "end"),
  ];
}

/** Give 1, 2 or 5 times a power of ten, just below a number. */
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].find((digit) => digit * power <= value) * power;
}

/** Draw a bound as far as it stays in the chart, with its name at the end. */
function line({ at, words, below }, { x, y, last, top }) {
  const inside = Array.from({ length: 101 }, (_, k) => (k * last) / 100).filter((k) => at(k) <= top);
  const end = inside.at(-1);
  const [place, anchor] = beside(x(end), y(at(end)), end < last, below);
  return [path("bound", inside.map((k) => [x(k), y(at(k))])), text("boundname", place, words, anchor)];
}

/** Give the place of a name: above an upper bound and below a lower one, which rise to the right. */
function beside(x, y, leaves, below) {
  if (!leaves) return [[x, y + (below ? 18 : -7)], "end"];
  // A steep bound ends at the axis, to whose left there is no room for its name.
  if (x < (below ? WIDTH - 60 : LEFT + 60)) return [[x + 8, y + 8], "start"];
  return [[x - 12, y + (below ? 32 : 8)], "end"];
}
