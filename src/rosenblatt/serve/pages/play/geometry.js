// Two colours of points in the plane: can a line keep them apart?
//
// separable         some (w, b) has y·(w·x + b) > 0 on every point
// weakly separable  some (w, b) has y·(w·x + b) >= 0 on every point, and > 0 on one
// inseparable       neither                                                    (theory D9)
//
// Let D hold all differences p − q of a positive and a negative point; for lines through the
// origin, the signed points y·x. The classes are separable if 0 lies outside the hull of D, weakly
// separable if it lies on its border, inseparable if inside (relative to the line or point that the
// hull may be). The point of the hull nearest to 0 gives the widest street (D10).
// All of it is computed in integers, so that no verdict rests on rounding.

import { overRoot, quotient, wholeNumbers } from "./exact.js";

const cross = (a, b) => a.x * b.y - a.y * b.x;
const dot = (a, b) => a.x * b.x + a.y * b.y;
const minus = (a, b) => ({ x: a.x - b.x, y: a.y - b.y });
const least = (values) => values.reduce((a, b) => (b < a ? b : a));

/** Give the corners of the convex hull, counterclockwise (Andrew's chain). */
export function hull(points) {
  const sorted = [...points].sort((a, b) => {
    const d = minus(a, b);
    return d.x < 0n || (d.x === 0n && d.y < 0n) ? -1 : d.x === 0n && d.y === 0n ? 0 : 1;
  });
  const chain = (order) => {
    const kept = [];
    for (const p of order) {
      const turnsLeft = ([a, b]) => cross(minus(b, a), minus(p, b)) > 0n;
      while (kept.length > 1 && !turnsLeft(kept.slice(-2))) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  const corners = [...chain(sorted), ...chain(sorted.reverse())];
  const one = corners.length === 0 || (corners.length === 2 && same(...corners));
  return one ? sorted.slice(0, 1) : corners;
}

const same = (a, b) => a.x === b.x && a.y === b.y;

/** Give the edges of a hull, each as its two corners. */
const edges = (corners) => corners.map((a, k) => [a, corners[(k + 1) % corners.length]]);

/** Tell where 0 lies: "outside" a hull, on its "border", or "inside". */
function placeOfZero(corners) {
  if (corners.length === 1) return dot(corners[0], corners[0]) === 0n ? "inside" : "outside";
  if (corners.length === 2) {
    const along = dot(...corners);
    if (cross(...corners) !== 0n || along > 0n) return "outside";
    return along < 0n ? "inside" : "border";
  }
  const sides = edges(corners).map(([a, b]) => cross(a, b));
  if (sides.some((side) => side < 0n)) return "outside";
  return sides.every((side) => side > 0n) ? "inside" : "border";
}

/** Give corners with positive weights that average to 0, for a hull that contains it. */
function weightsOfZero(corners) {
  const positive = (terms) => terms.filter(([, weight]) => weight > 0n);
  if (corners.length === 1) return [[corners[0], 1n]];
  if (corners.length === 2) {
    const [a, b] = corners;
    const along = minus(b, a);
    return positive([[a, dot(b, along)], [b, -dot(a, along)]]);
  }
  const [a, ...rest] = corners;
  for (let k = 1; k < rest.length; k++) {
    const [b, c] = [rest[k - 1], rest[k]];
    const weights = [cross(b, c), cross(c, a), cross(a, b)];
    if (weights.every((weight) => weight >= 0n)) {
      return positive([a, b, c].map((corner, j) => [corner, weights[j]]));
    }
  }
  throw new Error("0 lies outside the hull");
}

/** Give the weights of points of a hull that average to a point, or null if it lies outside. */
function weightsOf(point, corners) {
  const moved = corners.map((corner) => ({ ...minus(corner, point), corner }));
  if (placeOfZero(moved) === "outside") return null;
  return weightsOfZero(moved).map(([{ corner }, weight]) => [corner, weight]);
}

/** Give the weights of the ends of two segments where these cross, or null. */
function crossing([a, b], [c, d]) {
  const along = [minus(b, a), minus(d, c)];
  const turn = cross(...along);
  const sign = turn < 0n ? -1n : 1n;
  const [s, t] = [cross(minus(c, a), along[1]) * sign, cross(minus(c, a), along[0]) * sign];
  const all = turn * sign;
  if (all === 0n || s < 0n || t < 0n || s > all || t > all) return null;
  const ends = [[a, all - s], [b, s], [c, all - t], [d, t]];
  return ends.filter(([, weight]) => weight > 0n);
}

/** Give all ways in which two hulls meet: points of both with weights, at most four. */
function meetings(positive, negative) {
  const inside = (ones, others) => ones.map((point) => {
    const weights = weightsOf(point, others);
    return weights && [[point, weights.reduce((sum, [, weight]) => sum + weight, 0n)], ...weights];
  });
  const crossings = edges(positive).flatMap((one) =>
    edges(negative).map((other) => crossing(one, other)));
  return [...inside(positive, negative), ...inside(negative, positive), ...crossings].filter(Boolean);
}

/** Give a vector w with w·v > 0 for all of a hull but what lies opposite to 0 on its border. */
function supportOfZero(corners) {
  if (corners.length === 2) return corners.find((corner) => dot(corner, corner) > 0n);
  const through = edges(corners).filter(([a, b]) => cross(a, b) === 0n);
  return sum(through.map(([a, b]) => left(minus(b, a))));
}

const left = (v) => ({ x: -v.y, y: v.x });
const sum = (all) => all.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y }));

/** Give the direction from 0 to the nearest point of a hull that does not contain it. */
function towards(corners) {
  const found = edges(corners).map(([a, b]) => {
    const along = minus(b, a);
    const [before, after] = [-dot(a, along), dot(b, along)];
    if (before <= 0n) return { w: a, square: dot(a, a), over: 1n };
    if (after <= 0n) return { w: b, square: dot(b, b), over: 1n };
    const side = cross(a, along);
    const normal = left(along);
    const w = side > 0n ? { x: -normal.x, y: -normal.y } : normal;
    return { w, square: side * side, over: dot(along, along) };
  });
  return found.reduce((a, b) => (b.square * a.over < a.square * b.over ? b : a)).w;
}

/** Give the points as whole numbers that remember their places. */
function whole(points) {
  const { whole: numbers, shift } = wholeNumbers(points.flatMap(({ x, y }) => [x, y]));
  const rows = points.map(({ label }, i) => ({ x: numbers[2 * i], y: numbers[2 * i + 1], label, i }));
  return { rows, shift };
}

/** Give the line w·x + b = 0 along w in the middle between the classes, and who is nearest. */
function street(rows, shift, w, affine) {
  const leads = rows.map((row) => BigInt(row.label) * dot(w, row));
  const of = (label) => leads.filter((_, i) => rows[i].label === label);
  const [up, down] = affine ? [least(of(1)), least(of(-1))] : [least(leads), least(leads)];
  const square = dot(w, w);
  const scaled = (4n * square) << (2n * shift);
  return {
    w: [overRoot(w.x, square), overRoot(w.y, square)],
    b: affine ? overRoot(down - up, scaled) : 0,
    margin: overRoot(up + down, scaled),
    support: rows.filter(({ label }, i) => leads[i] === (label > 0 ? up : down)).map(({ i }) => i),
  };
}

/** Give the terms of a witness: places of points, exact weights of sum 1 in each class. */
function witness(terms, shift, affine) {
  const of = (chosen) => chosen.reduce((total, [, weight]) => total + weight, 0n);
  const all = terms.map(([row, weight]) => {
    const total = of(terms.filter(([other]) => !affine || other.label === row.label));
    return { i: row.i, label: row.label, weight, total, share: quotient(weight, total) };
  });
  const first = terms.filter(([{ label }]) => label === terms[0][0].label);
  const at = (axis) =>
    quotient(first.reduce((total, [row, weight]) => total + row[axis] * weight, 0n), of(first) << shift);
  return { terms: all, at: affine ? [at("x"), at("y")] : [0, 0] };
}

/**
 * Decide whether a line keeps points apart. A point has x, y and a label, +1 or −1.
 * Gives the verdict; w, b, margin and the places of the supporting points of the widest street,
 * or of the line that separates weakly; where the classes are not separable, a witness and the
 * corners of both hulls.
 */
export function decide(points, affine) {
  const { rows, shift } = whole(points);
  const [positive, negative] = [1, -1].map((sign) => rows.filter(({ label }) => label === sign));
  if (!positive.length || !negative.length) return { verdict: "empty" };
  const [P, N] = [hull(positive), hull(negative)];
  const signed = (row) => (row.label > 0 ? row : { ...row, x: -row.x, y: -row.y });
  const differences = affine ? P.flatMap((p) => N.map((q) => minus(p, q))) : rows.map(signed);
  const D = hull(differences);
  const place = placeOfZero(D);
  if (place === "outside") {
    return { verdict: "separable", ...street(rows, shift, towards(D), affine) };
  }
  // Of several meetings, one of many points says most: it lies inside, not on a border.
  const terms = affine
    ? meetings(P, N).reduce((a, b) => (b.length > a.length ? b : a))
    : weightsOfZero(D);
  const hulls = [P, N].map((corners) => corners.map(({ i }) => i));
  const proof = { witness: witness(terms, shift, affine), hulls };
  if (place === "inside") return { verdict: "inseparable", ...proof };
  return { verdict: "weakly separable", ...street(rows, shift, supportOfZero(D), affine), ...proof };
}
