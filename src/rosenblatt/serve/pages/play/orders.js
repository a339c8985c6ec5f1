// Which point comes next (theory D4): the orders of the Python package, with its random numbers.
//
// An order is a generator of places. It is told whether the point that it gave was a mistake, and
// ends when all points were looked at under one w without any.

export const ORDERS = {
  cycle: "as stored",
  shuffle: "shuffled anew each pass",
  random: "a random mistake",
  worst: "the most wrong",
  first: "from the first again",
};

const WORD = (1n << 64n) - 1n;

/** Give a function that draws whole numbers below a bound (splitmix64). */
export function generator(seed) {
  let state = BigInt(seed);
  return (bound) => {
    state = (state + 0x9e3779b97f4a7c15n) & WORD;
    let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & WORD;
    return Number((z ^ (z >> 31n)) % BigInt(bound));
  };
}

function* passes(n, arrange) {
  const sequence = Array.from({ length: n }, (_, i) => i);
  for (let mistakes = 1; mistakes > 0;) {
    mistakes = 0;
    arrange(sequence);
    for (const i of sequence) mistakes += yield i;
  }
}

// After a mistake the sequence begins anew; `pick` puts some point at the place whose turn it is.
function* restarts(n, pick) {
  const sequence = Array.from({ length: n }, (_, i) => i);
  for (let place = 0; place < n;) {
    pick(sequence, place);
    place = (yield sequence[place]) ? 0 : place + 1;
  }
}

function* mostWrong(n, lead) {
  for (let mistaken = true; mistaken;) {
    const leads = Array.from({ length: n }, (_, i) => lead(i));
    mistaken = yield leads.indexOf(Math.min(...leads));
  }
}

const swap = (sequence, a, b) => {
  [sequence[a], sequence[b]] = [sequence[b], sequence[a]];
};

/** Start an order over n points; `lead` tells how right the learner is on one of them now. */
export function begin(order, n, seed, lead) {
  const draw = generator(seed);
  const pick = (sequence, place) => swap(sequence, place, place + draw(n - place));
  switch (order) {
    case "shuffle":
      return passes(n, (sequence) => {
        for (let place = 0; place < n - 1; place++) pick(sequence, place);
      });
    case "random": return restarts(n, pick);
    case "first": return restarts(n, () => {});
    case "worst": return mostWrong(n, lead);
    default: return passes(n, () => {});
  }
}
