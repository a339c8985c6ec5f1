// What the page says: the verdict, the latest step, the two inequalities.

import { colour, number, plural } from "./dom.js";

const pair = ([x, y]) => `(${number(x)}, ${number(y)})`;
const lines = (affine) => (affine ? "line" : "line through the origin");

/** Give the verdict in one word and in sentences. */
export function verdict(decision, run, affine) {
  switch (decision.verdict) {
    case "separable": return ["Separable", separable(decision, run, affine)];
    case "weakly separable": return ["Weakly separable", weak(decision, affine)];
    case "inseparable": return ["Inseparable", inseparable(decision, affine)];
    default: return ["Two colours are needed", "Add at least one point of each colour."];
  }
}

function separable({ margin, support }, run, affine) {
  const street = `The widest street between the colours is ${number(2 * margin)} wide, so the margin is `
    + `γ = ${number(margin)}. ${plural(support.length, "point")} hold${support.length === 1 ? "s" : ""} it.`;
  if (run.bound === null) return street;
  const lifted = affine ? " Here R and γ are those of the points (x, 1)." : "";
  return `${street} Theorem 1: in any order the perceptron makes at most (R/γ)² = `
    + `${number(run.bound)} mistakes.${lifted}`;
}

function weak({ support, witness }, affine) {
  const where = affine ? `the two hulls touch in ${pair(witness.at)}`
    : "with the blue points mirrored, the origin lies on the border of the hull";
  const some = support.length === 1 ? "one" : support.length;
  return `No ${lines(affine)} keeps the colours apart: ${where}. But the dashed line has every point on its `
    + `own side or, ${some} of them, on the line itself. `
    + "The perceptron never ends here, and a logistic regression has no finite optimum.";
}

function inseparable({ witness }, affine) {
  if (!affine) {
    return "No line through the origin keeps the colours apart. Mirror the blue points: "
      + `${plural(witness.terms.length, "point")} then average to the origin itself, which is on neither side.`;
  }
  const shares = [1, -1].map((sign) => witness.terms.filter(({ label }) => label === sign).length);
  return `No line keeps the colours apart: the hulls meet in ${pair(witness.at)}, which is an average of `
    + `${plural(shares[0], "orange point")} and of ${plural(shares[1], "blue point")}. `
    + "On which side of a line would it be?";
}

/** Say what the latest look did, and whether the run has ended. */
export function progress(run, limit) {
  const { latest, mistakes, points, settings, ended, bound } = run;
  const made = plural(mistakes.length, "mistake");
  if (!points.length) return "No points yet.";
  if (!latest) return "w = 0: every answer is “I don't know”, and that counts as a mistake.";
  if (ended) {
    const below = bound === null ? "" : `, and Theorem 1 allowed ${number(bound)}`;
    const space = settings.kernel === "none" ? "" : " So the colours are separable in the space of features.";
    return `Done: a whole pass without a mistake. ${made} in all${below}.${space}`;
  }
  const { i, lead, mistaken } = latest;
  const point = points[i];
  const who = `Point ${i + 1} (${colour(point.label)})`;
  if (!mistaken) return `${who} is on its side: right, so w stays. ${made} so far.`;
  const wrong = `${colour(-point.label)} (y·score = ${number(lead)})`;
  const answer = `was answered ${lead === 0 ? "“I don't know”" : wrong}`;
  const sign = point.label > 0 ? "+" : "−";
  const update = settings.kernel === "none" ? `w becomes w ${sign} x` : `${sign}K(x, ·) is added`;
  const limited = mistakes.length >= limit ? ` Stopped after ${number(limit, 6)} mistakes.` : "";
  return `Mistake ${number(mistakes.length, 6)}: ${who} ${answer}; ${update}.${limited}`;
}

/** State ‖w‖² and w·w* between their bounds; the second is empty without a w*. */
export function inequalities(run) {
  const k = run.mistakes.length;
  const { sqnorm, product } = run.trace[k];
  const lifted = run.settings.affine && run.settings.kernel === "none";
  const [own, common] = lifted ? ["‖w‖² + b²", "w·w* + b·b*"] : ["‖w‖²", "w·w*"];
  const square = `${own} = ${number(sqnorm)} ≤ k·R² = ${number(k * run.sqradius)}`;
  if (product === null) return [square, ""];
  const [low, high] = [k * run.star.margin, Math.sqrt(k * run.sqradius)];
  return [square, `k·γ = ${number(low)} ≤ ${common} = ${number(product)} ≤ R·√k = ${number(high)}`];
}

/** Write the weights. */
export function weights(run) {
  const { w, counts } = run.learner;
  if (!w) return `${plural(counts.filter(Boolean).length, "point")} in the sum of kernels`;
  const b = run.settings.affine ? `, b = ${number(w[2])}` : "";
  return `w = ${pair(w)}${b}`;
}
