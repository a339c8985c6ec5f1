// The playground: what is on the page, what changes it, and how it is shown.

import { drawCharts } from "./chart.js";
import { calm, one, plural } from "./dom.js";
import { decide } from "./geometry.js";
import { described, listenToKeys, listenToPointer } from "./input.js";
import { writeLessons } from "./lessons.js";
import { MOST_POINTS, USUAL, fromLink, toLink } from "./link.js";
import { ORDERS } from "./orders.js";
import { draw, frame, reachOf } from "./plane.js";
import { PRESETS, surprise } from "./presets.js";
import { Run, comparator } from "./run.js";
import * as words from "./words.js";

const LIMIT = 5000; // mistakes of a run
const FEW = 500; // mistakes that a finished run may make anew at every move of a dragged point
const SPEEDS = { slow: 500, normal: 120, fast: 20 }; // milliseconds between two pictures of a run

const state = {
  points: [], settings: { ...USUAL }, colour: 1, selected: null, cursor: null, carried: null,
  answer: true, finished: false, timer: null, past: [], said: null,
};

// ---- what is shown

function show() {
  draw(state);
  drawCharts(state.run);
  const [title, text] = words.verdict(state.decision, state.run, state.settings.affine);
  one("#verdict").dataset.verdict = state.answer ? state.decision.verdict : "hidden";
  one("#verdict h2").textContent = state.answer ? title : "What do you think?";
  one("#verdict p").textContent = state.answer ? text : "Separable, weakly separable or inseparable? Show the answer when you know.";
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
function load({ points, settings }) {
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
  /** After a change: keep it in the address, and say what it means. */
  settle(text = "") {
    if (state.past.at(-1) === toLink(state)) state.past.pop(); // nothing changed
    store();
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

function store() {
  try {
    history.replaceState(null, "", toLink(state));
  } catch { // some browsers allow a hundred in half a minute; the next change stores this one, too
  }
}

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

function pause() {
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

// ---- the beginning

function listen() {
  const on = (selector, kind, handle) => one(selector).addEventListener(kind, handle);
  const clicks = {
    flip: act.flip, remove: act.remove, undo, play,
    clear: () => choose({ points: [], settings: state.settings }),
    restart: () => advance(() => state.run.restart()),
    back: () => advance(() => state.run.back()),
    look: () => advance(() => state.run.look()),
    step: () => advance(() => state.run.step()),
    share: copyLink,
  };
  for (const [name, handle] of Object.entries(clicks)) on(`#${name}`, "click", handle);
  for (const radio of document.querySelectorAll("[name=colour]")) {
    radio.addEventListener("change", () => { state.colour = Number(radio.value); });
  }
  on("#preset", "change", ({ target }) => {
    if (target.value !== "surprise") return choose(PRESETS[target.value]);
    target.value = ""; // so that it can be chosen again
    return choose({ points: surprise(Math.floor(Math.random() * 1e9)) });
  });
  on("#affine", "change", ({ target }) => set({ affine: target.checked }));
  on("#order", "change", ({ target }) => set({ order: target.value }));
  on("#seed", "change", ({ target }) => set({ seed: Math.min(999999999, Math.max(0, Math.trunc(target.value || 0))) }));
  on("#kernel", "change", ({ target }) => {
    const [kernel, degree = USUAL.degree] = target.value.split(":");
    set({ kernel, degree: Number(degree) });
  });
  on("#gamma", "change", ({ target }) => set({ gamma: Math.min(100, Math.max(0.1, Number(target.value) || USUAL.gamma)) }));
  on("#answer", "change", ({ target }) => { state.answer = target.checked; show(); });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.type !== "number") {
      event.preventDefault();
      undo();
    }
  });
  addEventListener("hashchange", open);
  listenToPointer(state, act);
  listenToKeys(state, act);
}

async function copyLink() {
  store();
  try {
    await navigator.clipboard.writeText(location.href);
    one("#shared").textContent = "The link is copied.";
  } catch { // without permission, or in a page that was opened from disk
    one("#shared").textContent = "The address of this page is the link: copy it.";
  }
}

/** Show what the address holds, or the first preset. */
function open() {
  let stored = null;
  try {
    stored = fromLink(location.hash);
  } catch (error) {
    one("#shared").textContent = `This link cannot be read: ${error.message}. Here are two clouds instead.`;
  }
  load(stored ?? { points: PRESETS.clouds.points, settings: USUAL });
}

function fill() {
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  one("#order").append(...Object.entries(ORDERS).map(([name, text]) => option(name, text)));
  one("#preset").append(...Object.entries(PRESETS).map(([name, { title }]) => option(name, title)), option("surprise", "Random points"));
  writeLessons(({ preset, settings }) => {
    const { points, settings: usual } = PRESETS[preset];
    one("#preset").value = preset;
    choose({ points, settings: { ...usual, ...settings } });
    one("#board").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  });
}

fill();
listen();
open();
