// The picture of the plane: points, the line of w, the street or the witness, kernel regions.

import { one, svg } from "./dom.js";

export const SIZE = 480; // of the picture, in its own units
const CELLS = 120; // kernel regions are computed on a grid of so many cells a side
const layer = (name) => one(`#plane .${name}`);

/** How far the picture reaches from the origin, so that all points are in it. */
export const reachOf = (points) =>
  Math.max(2.2, 1.12 * Math.max(0, ...points.flatMap(({ x, y }) => [Math.abs(x), Math.abs(y)])));

/** Give the two ways between coordinates and the picture; new places lie on a grid. */
export function frame(reach) {
  const unit = SIZE / (2 * reach);
  const snap = 2 ** Math.floor(Math.log2(reach / 128));
  const snapped = (value) => Math.round(Math.max(-reach, Math.min(reach, value)) / snap) * snap;
  return {
    reach,
    unit,
    snap,
    to: (x, y) => [SIZE / 2 + unit * x, SIZE / 2 - unit * y],
    from: (px, py) => [snapped((px - SIZE / 2) / unit), snapped((SIZE / 2 - py) / unit)],
  };
}

/** Draw everything anew. */
export function draw({ points, settings, decision, run, selected, cursor, answer, at }) {
  const kernel = settings.kernel !== "none";
  layer("axes").replaceChildren(...axes(at));
  layer("side").replaceChildren(...(kernel ? [] : halfPlane(run.learner.w, at)));
  layer("answer").replaceChildren(...(answer ? shownAnswer(points, decision, settings.affine, at) : []));
  layer("weights").replaceChildren(...(kernel ? [] : arrow(run.learner.w, at)));
  layer("points").replaceChildren(...points.map((point, i) => mark(point, i, { run, selected, decision, answer, at })));
  layer("cursor").replaceChildren(...(cursor ? crosshair(cursor, at) : []));
  regions(kernel && run.mistakes.length ? run.learner : null, at);
}

const path = (name, places, closed = false) =>
  svg("path", { class: name, d: `M${places.map((place) => place.join(" ")).join("L")}${closed ? "Z" : ""}` });
const label = (name, x, y, text, anchor = "middle") => svg("text", { class: name, x, y, "text-anchor": anchor }, text);

function axes(at) {
  const middle = SIZE / 2;
  const step = [1, 2, 5, 10, 20, 50, 100].find((each) => at.reach / each < 5) ?? 10 ** Math.floor(Math.log10(at.reach));
  const ticks = [];
  for (let value = step; value < at.reach; value += step) ticks.push(-value, value);
  const lines = ticks.flatMap((value) => {
    const [x, y] = at.to(value, value);
    const text = String(value).replace("-", "−");
    return [path("grid", [[x, 0], [x, SIZE]]), path("grid", [[0, y], [SIZE, y]]),
      label("tick", x, middle + 14, text), label("tick", middle - 5, y + 4, text, "end")];
  });
  return [...lines, path("axis", [[0, middle], [SIZE, middle]]), path("axis", [[middle, 0], [middle, SIZE]])];
}

/** Give the ends of the line w·x + b = 0, beyond the picture; null without a direction. */
function ends([w0, w1, b], at, shift = 0) {
  const norm = Math.hypot(w0, w1);
  if (!(norm > 0)) return null;
  const [u, v] = [w0 / norm, w1 / norm];
  const far = 4 * at.reach;
  const away = shift - b / norm;
  if (Math.abs(away) > far) return null;
  return [[away * u - far * v, away * v + far * u], [away * u + far * v, away * v - far * u]]
    .map(([x, y]) => at.to(x, y));
}

function halfPlane(w, at) {
  const line = ends(w, at);
  if (!line) return [];
  const norm = Math.hypot(w[0], w[1]);
  const push = [(8 * SIZE * w[0]) / norm, (-8 * SIZE * w[1]) / norm];
  const moved = (sign) => [...line].reverse().map(([x, y]) => [x + sign * push[0], y + sign * push[1]]);
  return [path("half positive", [...line, ...moved(1)], true), path("half negative", [...line, ...moved(-1)], true),
    path("line", line)];
}

/** The arrow of w from the origin, as long as it fits. */
function arrow([w0, w1], at) {
  const length = Math.hypot(w0, w1);
  if (!(length > 0)) return [];
  const shown = Math.min(length * at.unit, 0.4 * SIZE);
  const [u, v] = [w0 / length, -w1 / length];
  const middle = SIZE / 2;
  const place = (along, aside) => [middle + along * u - aside * v, middle + along * v + aside * u];
  const name = place(shown + 12, 0);
  return [path("shaft", [place(0, 0), place(Math.max(0, shown - 8), 0)]),
    path("tip", [place(shown, 0), place(shown - 11, 5), place(shown - 11, -5)], true),
    label("name", name[0], name[1] + 5, "w")];
}

function shownAnswer(points, decision, affine, at) {
  const { verdict, w, b, margin, witness, hulls } = decision;
  if (verdict === "separable") return street([...w, b], margin, at);
  if (!witness) return [];
  const weak = w ? [path("star", ends([...w, b], at) ?? [[0, 0]])] : [];
  const place = (i, sign = 1) => at.to(sign * points[i].x, sign * points[i].y);
  const meeting = [svg("circle", { class: "meeting", ...centre(at.to(...witness.at)), r: 9 })];
  if (affine) {
    const outlines = hulls.map((all, k) => path(`hull ${k ? "negative" : "positive"}`, all.map((i) => place(i)), true));
    const parts = [1, -1].map((sign) => witness.terms.filter((term) => term.label === sign));
    const shapes = parts.map((terms) => path("witness", terms.map(({ i }) => place(i)), true));
    return [...outlines, ...shapes, ...weak, ...meeting];
  }
  // Through the origin, blue points count as their mirror images; those surround the origin.
  const images = points.flatMap(({ label: sign }, i) => (sign > 0 ? [] : [
    path("mirror", [place(i), place(i, -1)]), svg("circle", { class: "image", ...centre(place(i, -1)), r: 6 })]));
  const around = path("witness", witness.terms.map(({ i, label: sign }) => place(i, sign)), true);
  return [...images, around, ...weak, ...meeting];
}

const centre = ([cx, cy]) => ({ cx, cy });

function street(line, margin, at) {
  const [middle, upper, lower] = [0, margin, -margin].map((shift) => ends(line, at, shift));
  if (!middle || !upper || !lower) return [];
  return [path("street", [...upper, ...[...lower].reverse()], true), path("kerb", upper), path("kerb", lower),
    path("star", middle)];
}

function mark(point, i, { run, selected, decision, answer, at }) {
  const [x, y] = at.to(point.x, point.y);
  const group = svg("g", { class: "point", "data-point": i });
  const touched = run.latest?.i === i;
  if (touched) group.append(svg("circle", { class: run.latest.mistaken ? "halo wrong" : "halo", cx: x, cy: y, r: 14 }));
  if (answer && decision.support?.includes(i)) group.append(svg("circle", { class: "support", cx: x, cy: y, r: 11 }));
  if (selected === i) group.append(svg("circle", { class: "selected", cx: x, cy: y, r: 13 }));
  group.append(point.label > 0
    ? svg("rect", { class: "positive", x: x - 6, y: y - 6, width: 12, height: 12, rx: 2 })
    : svg("circle", { class: "negative", cx: x, cy: y, r: 6.5 }));
  return group;
}

function crosshair([x, y], at) {
  const [px, py] = at.to(x, y);
  return [path("cross", [[px - 14, py], [px + 14, py]]), path("cross", [[px, py - 14], [px, py + 14]])];
}

/** Paint where a sum of kernels is positive and negative; stronger where its score is far from 0. */
function regions(learner, at) {
  const canvas = one("#regions");
  const context = canvas.getContext("2d");
  [canvas.width, canvas.height] = [CELLS, CELLS];
  if (!learner) return;
  const scores = Array.from({ length: CELLS * CELLS }, (_, k) => {
    const across = ((k % CELLS) + 0.5) / CELLS;
    const down = (Math.floor(k / CELLS) + 0.5) / CELLS;
    return learner.score((2 * across - 1) * at.reach, (1 - 2 * down) * at.reach);
  });
  const strong = Math.max(...learner.scores.map(Math.abs)) || 1;
  const image = context.createImageData(CELLS, CELLS);
  const colours = { true: [213, 94, 0], false: [0, 114, 178] };
  scores.forEach((score, k) => {
    const strength = score === 0 ? 0 : 60 + 70 * Math.min(1, Math.abs(score) / strong);
    image.data.set([...colours[score > 0], strength], 4 * k);
  });
  context.putImageData(image, 0, 0);
}
