// What is learned: a line, or a sum of kernels. Both begin at 0 and add y·φ(x) on a mistake.

/** The line w·x + b = 0, with b = 0 unless it is affine: x is then lifted to (x, 1) (theory D7). */
export class Line {
  constructor(points, { affine }) {
    this.points = points;
    this.lift = affine ? 1 : 0;
    this.w = [0, 0, 0];
  }

  score(x, y) {
    return this.w[0] * x + this.w[1] * y + this.w[2] * this.lift;
  }

  lead(i) {
    const { x, y, label } = this.points[i];
    return label * this.score(x, y);
  }

  learn(i) {
    const { x, y, label } = this.points[i];
    this.w = [this.w[0] + label * x, this.w[1] + label * y, this.w[2] + label * this.lift];
  }

  get sqnorm() {
    return this.w.reduce((sum, each) => sum + each * each, 0);
  }

  static sqradius(points, { affine }) {
    return Math.max(...points.map(({ x, y }) => x * x + y * y + (affine ? 1 : 0)));
  }
}

/** Kernels (theory D15). A lifted x·z is x·z + 1, so that affine polynomials have all terms. */
const KERNELS = {
  polynomial: ({ affine, degree }) => (a, b) => (a.x * b.x + a.y * b.y + (affine ? 1 : 0)) ** degree,
  gaussian: ({ gamma }) => (a, b) => Math.exp(-gamma * ((a.x - b.x) ** 2 + (a.y - b.y) ** 2)),
};

/** The dual form: the score of x is Σ a_j·y_j·K(x_j, x), a_j the mistakes on point j (D14). */
export class Expansion {
  constructor(points, settings) {
    this.points = points;
    this.kernel = KERNELS[settings.kernel](settings);
    this.gram = points.map((a) => points.map((b) => this.kernel(a, b)));
    this.scores = points.map(() => 0);
    this.counts = points.map(() => 0);
    this.sqnorm = 0;
  }

  score(x, y) {
    return this.points.reduce((sum, point, j) =>
      this.counts[j] ? sum + this.counts[j] * point.label * this.kernel(point, { x, y }) : sum, 0);
  }

  lead(i) {
    return this.points[i].label * this.scores[i];
  }

  learn(i) {
    const { label } = this.points[i];
    this.sqnorm += 2 * this.lead(i) + this.gram[i][i];
    this.counts[i] += 1;
    this.gram[i].forEach((value, j) => { this.scores[j] += label * value; });
  }

  static sqradius(points, settings) {
    const kernel = KERNELS[settings.kernel](settings);
    return Math.max(...points.map((point) => kernel(point, point)));
  }
}

/** Give the kind of learner that the settings ask for. */
export const kind = (settings) => (settings.kernel === "none" ? Line : Expansion);
