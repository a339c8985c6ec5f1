// Point sets to begin with. Coordinates are multiples of 1/64 where they can be: a run on those
// computes without rounding.

import { generator } from "./orders.js";

const point = (label, x, y) => ({ x, y, label });
const grid = (value) => Math.round(64 * value) / 64;

// Sums of two uniform numbers look like a cloud, and are the same in every browser.
function cloud(draw, count, label, x, y, spread) {
  const wobble = () => (draw(1000) + draw(1000)) / 1000 - 1;
  return Array.from({ length: count }, () =>
    point(label, grid(x + spread * wobble()), grid(y + spread * wobble())));
}

// Colours alternate, as in a stream that is well mixed.
const mixed = (a, b) => a.flatMap((one, k) => (b[k] ? [one, b[k]] : [one]));

function clouds(seed, count, apart, spread) {
  const draw = generator(seed);
  const [above, below] = [1, -1].map((sign) => cloud(draw, count, sign, sign * apart, (sign * apart) / 2, spread));
  return mixed(above, below);
}

function rings(count) {
  const circle = (label, radius, turn) => Array.from({ length: count }, (_, k) => {
    const angle = (2 * Math.PI * (k + turn)) / count;
    return point(label, grid(radius * Math.cos(angle)), grid(radius * Math.sin(angle)));
  });
  return mixed(circle(1, 0.6, 0), circle(-1, 1.6, 0.5));
}

const worst = (K) => [point(1, 1, 1), point(1, 1, 0), point(1, 1 / K, 1), point(-1, 0, 1)];

/** Presets by name: a title, the points, and the settings that they are best seen with. */
export const PRESETS = {
  clouds: { title: "Two clouds", points: clouds(28, 12, 0.85, 1.15) },
  worked: {
    title: "Worked example",
    points: [[-1, 2, -1], [1, 0, 1], [1, 1, 1], [-1, 0, -1], [-1, -2, -1], [1, -1, 1]]
      .map(([x, y, label]) => point(label, x, y)),
    settings: { affine: false },
  },
  thin: {
    title: "Thin margin",
    points: mixed(
      [point(1, -1.5, -0.8125), point(1, 0.125, 0.109375), point(1, 1.25, 0.75), point(1, 0.25, 1)],
      [point(-1, -0.25, -0.1875), point(-1, 1.5, 0.71875), point(-1, -1, -1.25), point(-1, 1, -0.5)]),
  },
  worst8: { title: "Worst case, K = 8", points: worst(8), settings: { affine: false } },
  worst32: { title: "Worst case, K = 32", points: worst(32), settings: { affine: false } },
  touching: {
    title: "Touching",
    points: [point(1, -1, 0.5), point(1, 1, 0.5), point(1, 0.25, 1.5),
      point(-1, 0, 0.5), point(-1, -0.75, -1), point(-1, 1, -0.75)],
  },
  overlap: { title: "Overlapping clouds", points: clouds(3, 12, 0.5, 1.3) },
  xor: {
    title: "XOR",
    points: [point(-1, -1, -1), point(1, -1, 1), point(1, 1, -1), point(-1, 1, 1)],
  },
  rings: { title: "Ring", points: rings(12) },
};

/** Give clouds that nobody has seen before. */
export const surprise = (seed) => clouds(seed, 10, 0.6 + (seed % 5) / 10, 1.1);
