// The picture of the plane: points, the line of w, the street or the witness, kernel regions.

import { circle, one, path, svg, text } from "./dom.js";

export const SIZE = 480; // of the picture, in its own units
const CELLS = 120; // kernel regions are computed on a grid of so many cells a side
const STEPS = [1, 2, 5, 10, 20, 50, 100]; // between the lines of the grid

/** How far the picture reaches from the origin, so that all points are in it. */
export const reachOf = (points) =>
  Math.max(2.2, 1.12 * Math.max(0, ...points.flatMap(({ x, y }) => [Math.abs(x), Math.abs(y)])));

/** Give the two ways between coordinates and the picture; new places lie on a grid. */
export function frame(reach) {
  const unit = SIZE / (2 * reach);
  const snap = 2 ** Math.floor(Math.log2(reach / 128));
  const inside = (value) => Math.max(-reach, Math.min(reach, value));
  const snapped = (value) => Math.round(inside(value) / snap) * snap;
  return {
    reach,
    unit,
    snap,
    inside,
    to: (x, y) => [SIZE / 2 + unit * x, SIZE / 2 - unit * y],
    from: (px, py) => [snapped((px - SIZE / 2) / unit), snapped((SIZE / 2 - py) / unit)],
  };
}

/** Draw everything anew. */
export function draw(state) {
  const { points, settings, decision, run, cursor, answer, at } = state;
  const { w } = run.learner; // of a line
  const put = (name, parts) => one(`#plane .${name}`).replaceChildren(...parts);
  put("axes", axes(at));
  put("side", w ? halfPlane(w, at) : []);
  put("answer", answer ? shownAnswer(points, decision, settings.affine, at) : []);
  put("weights", w ? arrow(w, at) : []);
  put("points", points.map((point, i) => mark(point, i, state)));
  put("cursor", cursor ? crosshair(cursor, at) : []);
  regions(!w && run.mistakes.length ? run.learner : null, at);
}

function axes(at) {
  const middle = SIZE / 2;
  const step = STEPS.find((each) => at.reach / each < 5) ?? 10 ** Math.floor(Math.log10(at.reach));
  const ticks = [];
  for (let value = step; value < at.reach; value += step) ticks.push(-value, value);
  const lines = ticks.flatMap((value) => {
    const [x, y] = at.to(value, value);
    const words = String(value).replace("-", "−");
    return [path("grid", [[x, 0], [x, SIZE]]), path("grid", [[0, y], [SIZE, y]]),
      text("tick", [x, middle + 14], words), text("tick", [middle - 5, y + 4], words, "end")];
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
  const far = (8 * SIZE) / Math.hypot(w[0], w[1]);
  const half = (name, sign) => path(`half ${name}`, [...line,
    ...line.toReversed().map(([x, y]) => [x + sign * far * w[0], y - sign * far * w[1]])], true);
  return [half("positive", 1), half("negative", -1), path("line", line)];
}

/** The arrow of w from the origin, as long as it fits. */
function arrow([w0, w1], at) {
  const length = Math.hypot(w0, w1);
  if (!(length > 0)) return [];
  const shown = Math.min(length * at.unit, 0.4 * SIZE);
  const [u, v] = [w0 / length, -w1 / length];
  const middle = SIZE / 2;
  const place = (along, aside) => [middle + along * u - aside * v, middle + along * v + aside * u];
  const [x, y] = place(shown + 12, 0);
  return [path("shaft", [place(0, 0), place(Math.max(0, shown - 8), 0)]),
    path("tip", [place(shown, 0), place(shown - 11, 5), place(shown - 11, -5)], true),
    text("name", [x, y + 5], "w")];
}

function shownAnswer(points, decision, affine, at) {
  const { verdict, w, b, margin, witness } = decision;
  if (verdict === "separable") return street([...w, b], margin, at);
  if (!witness) return [];
  const place = (i, sign = 1) => at.to(sign * points[i].x, sign * points[i].y);
  const line = w && ends([...w, b], at);
  const weak = line ? [path("star", line)] : [];
  const meeting = circle("meeting", at.to(...witness.at), 9);
  return [...(affine ? hulls : mirrored)(points, decision, place), ...weak, meeting];
}

/** Both hulls, and in each the points that average to where they meet. */
function hulls(points, decision, place) {
  const outlines = decision.hulls.map((corners, k) =>
    path(`hull ${k ? "negative" : "positive"}`, corners.map((i) => place(i)), true));
  const shapes = [1, -1].map((sign) => decision.witness.terms.filter(({ label }) => label === sign))
    .map((terms) => path("witness", terms.map(({ i }) => place(i)), true));
  return [...outlines, ...shapes];
}

/** Through the origin, blue points count as their mirror images; those surround the origin. */
function mirrored(points, { witness }, place) {
  const images = points.flatMap(({ label }, i) => (label > 0 ? []
    : [path("mirror", [place(i), place(i, -1)]), circle("image", place(i, -1), 6)]));
  return [...images, path("witness", witness.terms.map(({ i, label }) => place(i, label)), true)];
}

function street(line, margin, at) {
  const [middle, upper, lower] = [0, margin, -margin].map((shift) => ends(line, at, shift));
  if (!middle || !upper || !lower) return [];
  return [path("street", [...upper, ...lower.toReversed()], true), path("kerb", upper), path("kerb", lower),
    path("star", middle)];
}

function mark(point, i, { run, selected, decision, answer, at }) {
  const here = at.to(point.x, point.y);
  const rings = [];
  if (run.latest?.i === i) rings.push(circle(run.latest.mistaken ? "halo wrong" : "halo", here, 14));
  if (answer && decision.support?.includes(i)) rings.push(circle("support", here, 11));
  if (selected === i) rings.push(circle("selected", here, 13));
  const [x, y] = here;
  const shape = point.label > 0
    ? svg("rect", { class: "positive", x: x - 6, y: y - 6, width: 12, height: 12, rx: 2 })
    : circle("negative", here, 6.5);
  return svg("g", { class: "point" }, ...rings, shape);
}

function crosshair(cursor, at) {
  const [x, y] = at.to(...cursor);
  return [path("cross", [[x - 14, y], [x + 14, y]]), path("cross", [[x, y - 14], [x, y + 14]])];
}

/** Paint where a sum of kernels is positive and negative; stronger where its score is far from 0. */
function regions(learner, at) {
  const canvas = one("#regions");
  const context = canvas.getContext("2d");
  [canvas.width, canvas.height] = [CELLS, CELLS];
  if (!learner) return;
  const coordinate = (k) => ((2 * k + 1) / CELLS - 1) * at.reach;
  const strong = Math.max(...learner.scores.map(Math.abs)) || 1;
  const image = context.createImageData(CELLS, CELLS);
  for (let k = 0; k < CELLS * CELLS; k++) {
    const score = learner.score(coordinate(k % CELLS), -coordinate(Math.floor(k / CELLS)));
    const strength = score === 0 ? 0 : 60 + 70 * Math.min(1, Math.abs(score) / strong);
    image.data.set([...(score > 0 ? [213, 94, 0] : [0, 114, 178]), strength], 4 * k);
  }
  context.putImageData(image, 0, 0);
}
