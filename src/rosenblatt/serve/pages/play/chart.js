// The two quantities of the proof of Theorem 1, mistake by mistake, between their bounds (F6).

import { number, one, svg } from "./dom.js";

const WIDTH = 460;
const HEIGHT = 170;
const BOX = { left: 46, right: 12, top: 14, bottom: 26 };
const MOST = 300; // places of a curve that are drawn

/** Draw both charts of a run. */
export function drawCharts(run) {
  const { trace, sqradius, star } = run;
  const last = Math.max(8, Math.ceil(1.1 * run.mistakes.length));
  const radius = Math.sqrt(sqradius);
  panel(one("#squares"), last, trace.map(({ sqnorm }) => sqnorm), [
    { name: "bound", at: (k) => k * sqradius, text: "k·R²" }]);
  const products = star ? trace.map(({ product }) => product) : [];
  panel(one("#products"), last, products, star ? [
    { name: "bound", at: (k) => radius * Math.sqrt(k), text: "R·√k" },
    { name: "bound lower", at: (k) => k * star.margin, text: "k·γ" }] : []);
}

function panel(svgElement, last, values, bounds) {
  const shown = [...values, 0];
  const highest = Math.max(...shown) || 1;
  // A bound far above what it bounds leaves the chart, which would else show a flat line.
  const top = 1.08 * Math.max(highest, Math.min(3 * highest, ...bounds.map(({ at }) => at(last))));
  const bottom = Math.min(0, ...shown);
  const x = (k) => BOX.left + (k / last) * (WIDTH - BOX.left - BOX.right);
  const y = (value) => HEIGHT - BOX.bottom - ((value - bottom) / (top - bottom)) * (HEIGHT - BOX.top - BOX.bottom);
  const parts = [...frame(x, y, last, top), ...bounds.flatMap((bound) => boundary(bound, x, y, last, top))];
  if (values.length) {
    const step = Math.ceil(values.length / MOST);
    const places = values.map((value, k) => [k, value]).filter(([k]) => k % step === 0 || k === values.length - 1);
    const d = `M${places.map(([k, value]) => `${x(k)} ${y(value)}`).join("L")}`;
    const k = values.length - 1;
    parts.push(svg("path", { class: "curve", d }), svg("circle", { class: "dot", cx: x(k), cy: y(values[k]), r: 4 }));
  }
  svgElement.replaceChildren(...parts);
  svgElement.toggleAttribute("hidden", values.length === 0);
}

function frame(x, y, last, top) {
  const text = (px, py, words, anchor) => svg("text", { class: "tick", x: px, y: py, "text-anchor": anchor }, words);
  const nice = round(top / 1.3);
  return [
    svg("path", { class: "axis", d: `M${x(0)} ${BOX.top}V${HEIGHT - BOX.bottom}M${x(0)} ${y(0)}H${x(last)}` }),
    svg("path", { class: "grid", d: `M${x(0)} ${y(nice)}H${x(last)}` }),
    text(x(0) - 6, y(nice) + 4, number(nice), "end"),
    text(x(0) - 6, y(0) + 4, "0", "end"),
    text(x(last), HEIGHT - 8, `${number(last)} mistakes`, "end"),
  ];
}

/** Give 1, 2 or 5 times a power of ten, just below a number. */
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].find((digit) => digit * power <= value) * power;
}

/** Draw a bound as far as it stays in the chart, with its name at the end. */
function boundary({ name, at, text }, x, y, last, top) {
  const all = Array.from({ length: 101 }, (_, k) => (k * last) / 100);
  const inside = all.filter((k) => at(k) <= top);
  const end = inside.at(-1);
  const d = `M${inside.map((k) => `${x(k)} ${y(at(k))}`).join("L")}`;
  return [svg("path", { class: name, d }),
    svg("text", { class: "boundname", ...beside(x(end), y(at(end)), end < last, name.includes("lower")) }, text)];
}

/** Give the place of a name: above an upper bound and below a lower one, which rise to the right. */
function beside(x, y, leaves, below) {
  if (!leaves) return { x, y: y + (below ? 18 : -7), "text-anchor": "end" };
  const room = x < WIDTH - 60;
  return { x: below && room ? x + 8 : x - 12, y: y + (below && !room ? 32 : 8), "text-anchor": below && room ? "start" : "end" };
}
