// A run of the perceptron: mistake by mistake, from w = 0, until a whole pass makes none.
//
// y·score <= 0 is a mistake: not knowing counts as one (theory D2). After k mistakes
// k·γ <= w·w* and ‖w‖² <= k·R² (F6), and so k <= (R/γ)² (F5).

import { kind } from "./learners.js";
import { begin } from "./orders.js";

/** Give w* of the widest street, lifted and of norm 1, with its margin there; null without one. */
export function comparator(decision, affine) {
  if (decision.verdict !== "separable") return null;
  const { w, b, margin } = decision;
  const norm = affine ? Math.hypot(1, b) : 1;
  return { w: [w[0] / norm, w[1] / norm, b / norm], margin: margin / norm };
}

/** A run over points with some settings: order, seed, affine, kernel; `star` is w* or null. */
export class Run {
  constructor(points, settings, star) {
    Object.assign(this, { points, settings, star });
    this.sqradius = points.length ? kind(settings).sqradius(points, settings) : 0;
    this.restart();
  }

  restart() {
    const { points, settings } = this;
    this.learner = new (kind(settings))(points, settings);
    this.order = begin(settings.order, points.length, settings.seed, (i) => this.learner.lead(i));
    this.looks = 0;
    this.mistakes = []; // each with the point, its score before, and what w was then
    this.trace = [this.state()];
    this.latest = null;
    this.mistaken = false;
    this.ended = points.length === 0;
  }

  /** Present one point; tell what happened, or null if the run has ended. */
  look() {
    const next = this.ended ? { done: true } : this.order.next(this.mistaken);
    this.ended = next.done;
    if (next.done) return null;
    const lead = this.learner.lead(next.value);
    this.mistaken = lead <= 0;
    this.looks += 1;
    this.latest = { i: next.value, lead, mistaken: this.mistaken };
    if (this.mistaken) {
      this.learner.learn(next.value);
      this.mistakes.push(this.latest);
      this.trace.push(this.state());
    }
    return this.latest;
  }

  /** Go on to the next mistake; tell whether there was one, within so many looks. */
  step(looks = 100000) {
    for (let left = looks; left > 0; left--) {
      const seen = this.look();
      if (!seen) return false;
      if (seen.mistaken) return true;
    }
    return false;
  }

  /** Go back by one mistake: begin anew and stop before it. */
  back() {
    const wanted = Math.max(0, this.mistakes.length - 1);
    this.restart();
    while (this.mistakes.length < wanted) this.look();
  }

  /** How long w is, and how far along w*. */
  state() {
    const { w, sqnorm } = this.learner;
    const product = this.star && w ? w.reduce((sum, each, j) => sum + each * this.star.w[j], 0) : null;
    return { w, sqnorm, product };
  }

  /** (R/γ)² without its fraction, or null where no margin is known. Rounding must not lower it. */
  get bound() {
    return this.star ? Math.floor((1 + 1e-12) * (this.sqradius / this.star.margin ** 2)) : null;
  }
}
