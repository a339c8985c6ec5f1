// The playground: what is on it, what changes it, and how it is shown, on a page or in a notebook.

import { drawCharts } from "./chart.js";
import { connect } from "./controls.js";
import { calm, one, plural } from "./dom.js";
import { decide } from "./geometry.js";
import { described, listenToKeys, listenToPointer } from "./input.js";
import { MOST_POINTS, USUAL, fromLink, toLink } from "./link.js";
import { draw, frame, reachOf } from "./plane.js";
import { Run, comparator } from "./run.js";
import * as words from "./words.js";

const LIMIT = 5000; // mistakes of a run
const FEW = 500; // mistakes that a finished run may make anew at every move of a dragged point
const SPEEDS = { slow: 500, normal: 120, fast: 20 }; // milliseconds between two pictures of a run

const GUESS = "Separable, weakly separable or inseparable? Show the answer when you know.";

const state = {
  points: [], settings: { ...USUAL }, colour: 1, selected: null, cursor: null, carried: null,
  answer: true, finished: false, timer: null, past: [], said: null,
};
let keep = null;

// ---- what is shown

function show() {
  draw(state);
  drawCharts(state.run);
  const [title, text] = words.verdict(state.decision, state.run, state.settings.affine);
  one("#verdict").dataset.verdict = state.answer ? state.decision.verdict : "hidden";
  one("#verdict h2").textContent = state.answer ? title : "What do you think?";
  one("#verdict p").textContent = state.answer ? text : GUESS;
  one("#progress").textContent = words.progress(state.run, LIMIT);
  one("#weights").textContent = words.weights(state.run);
  const [square, product] = words.inequalities(state.run);
  one("#square").textContent = square;
  one("#product").textContent = product || noProduct();
  one("#product").parentElement.hidden = !state.answer; // it would tell
  one("#count").textContent = plural(state.points.length, "point");
  for (const name of ["flip", "remove"]) one(`#${name}`).disabled = state.selected === null;
  one("#undo").disabled = state.past.length === 0;
  one("#clear").disabled = state.points.length === 0;
  one("#back").disabled = state.run.mistakes.length === 0;
  for (const name of ["look", "step", "play"]) one(`#${name}`).disabled = over();
  one("#play").textContent = state.timer === null ? "Run" : "Pause";
}

const noProduct = () => (state.settings.kernel === "none"
  ? "There is no w* to compare with: the colours are not separable."
  : "w* lies in the space of features, where this page knows no margin.");

function showSettings() {
  const { affine, order, seed, kernel, degree, gamma } = state.settings;
  one("#affine").checked = affine;
  one("#order").value = order;
  one("#seed").value = seed;
  one("#kernel").value = kernel === "polynomial" ? `polynomial:${degree}` : kernel;
  one("#gamma").value = gamma;
  one("#seedfield").hidden = !["shuffle", "random"].includes(order);
  one("#gammafield").hidden = kernel !== "gaussian";
}

function say(text) {
  clearTimeout(state.said);
  state.said = setTimeout(() => { one("#said").textContent = text; }, 150);
}

const over = () => state.run.ended || state.run.mistakes.length >= LIMIT;

// ---- what changes the points

/** Decide and run anew; a run that was finished is finished again. */
function refresh() {
  pause();
  const { points, settings } = state;
  state.decision = decide(points, settings.affine);
  const star = settings.kernel === "none" ? comparator(state.decision, settings.affine) : null;
  state.run = new Run(points, settings, star);
  while (state.finished && state.run.mistakes.length < FEW && state.run.look());
  show();
}

/** Take over points and settings from elsewhere. */
export function load({ points, settings }) {
  Object.assign(state, { points: points.map((point) => ({ ...point })), settings: { ...settings },
    selected: null, carried: null, finished: false });
  state.at = frame(reachOf(points));
  showSettings();
  refresh();
}

const act = {
  remember() {
    state.past.push(toLink(state));
    if (state.past.length > 200) state.past.shift();
  },
  add(x, y, label) {
    if (state.points.length >= MOST_POINTS) {
      say(`There are ${MOST_POINTS} points, which is the most.`);
      return null;
    }
    state.points.push({ x: x + 0, y: y + 0, label });
    refresh();
    return state.points.length - 1;
  },
  move(i, x, y) {
    const point = state.points[i];
    if (point.x === x && point.y === y) return;
    Object.assign(point, { x: x + 0, y: y + 0 });
    refresh();
  },
  select(i) {
    state.selected = i;
    show();
  },
  /** After a change: keep it, and say what it means. */
  settle(text = "") {
    if (state.past.at(-1) === toLink(state)) state.past.pop(); // nothing changed
    keep(state);
    show();
    say([text, ...words.verdict(state.decision, state.run, state.settings.affine)].filter(Boolean).join(" "));
  },
  flip() {
    if (state.selected === null) return;
    act.remember();
    state.points[state.selected].label *= -1;
    refresh();
    act.settle(`${described(state, state.selected)}.`);
  },
  remove() {
    if (state.selected === null) return;
    act.remember();
    state.points.splice(state.selected, 1);
    Object.assign(state, { selected: null, carried: null });
    refresh();
    act.settle("Removed.");
  },
  draw: () => draw(state),
  say,
};

/** Load what was chosen, so that it can be undone. */
function choose(chosen) {
  act.remember();
  load({ settings: { ...USUAL, ...chosen.settings }, points: chosen.points });
  act.settle();
}

function undo() {
  const before = state.past.pop();
  if (before === undefined) return;
  load(fromLink(before));
  act.settle("Undone.");
}

// ---- the run

export function pause() {
  clearTimeout(state.timer);
  state.timer = null;
}

/** Do something with the run and tell what happened. */
function advance(change) {
  pause();
  change();
  state.finished = over();
  show();
  say(`${words.progress(state.run, LIMIT)} ${words.weights(state.run)}.`);
}

function play() {
  if (state.timer !== null) return advance(() => {});
  if (calm()) return advance(() => { while (!over() && state.run.step()); });
  const tick = () => {
    // Long runs go ever faster: nobody watches two thousand single mistakes.
    for (let left = 1 + state.run.mistakes.length / 20; left >= 1 && !over(); left--) state.run.step();
    if (over()) return advance(() => {});
    state.timer = setTimeout(tick, SPEEDS[one("#speed").value]);
    return show();
  };
  return tick();
}

function set(changes) {
  act.remember();
  Object.assign(state.settings, changes);
  showSettings();
  refresh();
  act.settle();
}

function reveal(answer) {
  state.answer = answer;
  show();
}

/** Begin to listen; `keeper` is given what is on the playground after each change. */
export function begin(keeper, share) {
  keep = keeper;
  connect(state, { ...act, advance, choose, undo, play, set, share, reveal });
  listenToPointer(state, act);
  listenToKeys(state, act);
}
