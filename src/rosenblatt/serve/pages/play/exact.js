// Doubles as exact integers, and exact fractions back as doubles.

const view = new DataView(new ArrayBuffer(8));
const FRACTION = 0xfffffffffffffn;

// value = mantissa · 2^exponent
function parts(value) {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = exponent ? (bits & FRACTION) | (1n << 52n) : bits & FRACTION;
  return [value < 0 ? -mantissa : mantissa, Math.max(exponent, 1) - 1075];
}

/** Give whole numbers and one shift, such that each value is its whole number / 2^shift. */
export function wholeNumbers(values) {
  const all = values.map(parts);
  const exponents = all.filter(([mantissa]) => mantissa !== 0n).map(([, exponent]) => exponent);
  const lowest = Math.min(0, ...exponents);
  const whole = all.map(([mantissa, exponent]) =>
    mantissa === 0n ? 0n : mantissa << BigInt(exponent - lowest));
  return { whole, shift: BigInt(-lowest) };
}

const length = (whole) => 4 * whole.toString(16).length;
const magnitude = (whole) => (whole < 0n ? -whole : whole);

/** Give a / b as a double, for b > 0; 64 bits of it are computed before it is rounded. */
export function quotient(a, b) {
  const up = length(b) - length(magnitude(a)) + 64;
  const scaled = up > 0 ? (a << BigInt(up)) / b : a / (b << BigInt(-up));
  return Number(scaled) * 2 ** -up;
}

/** Give a / √b as a double, for b > 0. */
export function overRoot(a, b) {
  const root = Math.sqrt(quotient(a * a, b));
  return a < 0n ? -root : root;
}
