// The inbox: what came in, how it is marked, and one key or click to correct it.

import { make, number, one, plural } from "../play/dom.js";
import { drawCurve } from "./curve.js";
import { row, sorted, title } from "./list.js";
import * as server from "./server.js";

const state = {
  learner: null, kind: null, labels: [], items: [], marks: new Map(), // the marks before the latest change
  selected: null, open: null, source: null, taken: "",
};
const MAIL_KEYS = ["h", "s"]; // as people say ham and spam

// ---- what is shown

function show(focus = false) {
  const shown = sorted(state.items);
  if (!shown.some(({ id }) => id === state.selected)) state.selected = shown[0]?.id ?? null;
  const had = focus || one("#list").contains(document.activeElement);
  one("#list").replaceChildren(...shown.map((item) => row(item, state.labels, {
    selected: item.id === state.selected,
    open: item.id === state.open,
    changed: state.marks.has(item.id) && state.marks.get(item.id) !== item.label,
  })));
  if (had) current()?.focus({ preventScroll: true }); // nothing moves under a pointer
  const unsure = shown.filter(({ unsure: doubt, correction }) => doubt && correction === null).length;
  const latest = `Latest ${shown.length || ""}`;
  one("#mailsname").textContent = unsure ? `${unsure} to look at, of ${shown.length}` : latest;
  one("#empty").hidden = shown.length > 0;
  one("#undo").disabled = !shown.some(({ correction }) => correction !== null);
}

const current = () => one("#list [aria-current]");

function showTotals(totals) {
  const put = (name, text) => { one(`#${name}`).textContent = text; };
  for (const name of ["corrections", "mistakes", "unsure"]) put(name, number(totals[name]));
  const { bound, bound_at: at, corrections } = totals;
  put("bound", bound === null ? "–" : number(Math.floor(bound)));
  put("boundlabel", bound !== null && at < corrections ? `bound of the first ${number(at)}` : "bound");
  drawCurve(totals);
}

const say = (text) => { one("#said").textContent = text; };
const complain = (error) => { one("#state").textContent = error.message; };

// ---- what the server knows

let loading = null;
let again = false;

/** Ask for the inbox and the totals; while they are under way, one more time is noted at most. */
async function load() {
  if (loading) {
    again = true;
    return loading;
  }
  loading = (async () => {
    do {
      again = false;
      const totals = await server.stats(state.learner);
      take(await server.inbox(state.learner)); // asked after the totals, so that it has all that they count
      showTotals(totals);
    } while (again);
  })();
  try {
    await loading;
  } catch (error) {
    complain(error);
  } finally {
    loading = null;
  }
}

/** Show what came, unless it is what is there. */
function take(found) {
  const text = JSON.stringify(found);
  if (text === state.taken) return;
  state.marks = new Map(state.items.map(({ id, label }) => [id, label]));
  Object.assign(state, { taken: text, items: found.items, labels: found.labels, kind: found.kind });
  show();
}

const connected = (fine) => {
  one("#state").textContent = fine ? "" : "The connection is lost; trying again …";
};

/** Follow a learner. */
async function follow(name) {
  state.source?.close();
  Object.assign(state, { learner: name, items: [], taken: "", selected: null, open: null });
  await load();
  writeKeys();
  state.source = server.listen(name, () => document.hidden || load(), connected);
}

/** Offer all learners, and follow one: that of mail, if there is one. */
async function begin() {
  const all = await server.learners();
  const names = all.map(({ name }) => name);
  one("#learner").replaceChildren(...names.map((name) => make("option", {}, name)));
  one("#chooser").hidden = names.length < 2;
  if (!names.length) {
    show();
    return;
  }
  const first = names.includes("mail") ? "mail" : names[0];
  one("#learner").value = first;
  await follow(first);
}

// ---- what people do

/** Give what comes into the place of an example that was corrected, or after it. */
function following(id, place) {
  const order = sorted(state.items).map((each) => each.id);
  return (order[place] === id ? order[place + 1] : order[place]) ?? id;
}

/** Teach the true label of an example; what comes next is selected. */
async function teach(id, label) {
  const item = state.items.find((each) => each.id === id);
  if (!item || label === undefined) return;
  const place = sorted(state.items).indexOf(item);
  const before = new Map(state.items.map((each) => [each.id, each.label]));
  const taught = item.correction;
  item.correction = label; // shown at once; what the server says comes after
  state.selected = following(id, place);
  show(true);
  try {
    await server.teach(state.learner, id, label);
    await load();
    const moved = state.items.filter((each) => before.has(each.id) && before.get(each.id) !== each.label);
    const changed = `${plural(moved.length, "mark")} changed`;
    say(`“${title(item)}” is ${label}. ${changed}. ${one("#curvename").textContent}`);
  } catch (error) {
    item.correction = taught;
    show();
    complain(error);
  }
}

async function undo() {
  try {
    await server.undo(state.learner);
    await load();
    say(`The latest correction is undone. ${one("#curvename").textContent}`);
  } catch (error) {
    complain(error);
  }
}

async function add(files) {
  try {
    for (const file of files) await server.add(file);
    if (state.learner === "mail") await load();
    else await begin();
  } catch (error) {
    complain(error);
  }
}

const reveal = () => current()?.scrollIntoView({ block: "nearest" });

function select(id) {
  state.selected = id;
  show(true);
  reveal();
}

function move(by) {
  const order = sorted(state.items).map(({ id }) => id);
  const place = Math.max(0, Math.min(order.length - 1, order.indexOf(state.selected) + by));
  if (order.length) select(order[place]);
}

function unfold(id) {
  state.open = state.open === id ? null : id;
  show(true);
}

/** Ask for a label that is not known yet; numbers are for learners whose labels are numbers. */
function otherLabel() {
  const given = prompt("What is it?")?.trim();
  if (!given) return undefined;
  return typeof state.labels[0] === "number" ? Number(given) : given;
}

/** Give the label that a key stands for: its number, its first letter, or h and s for mail. */
function labelOf(key) {
  const mail = state.kind === "mail" ? MAIL_KEYS.indexOf(key) : -1;
  if (mail >= 0) return state.labels[mail];
  if (/^[1-9]$/.test(key)) return state.labels[Number(key) - 1];
  const same = state.labels.filter((label) => String(label)[0]?.toLowerCase() === key);
  return same.length === 1 && !["j", "k", "u"].includes(key) ? same[0] : undefined;
}

function writeKeys() {
  const keys = state.labels.map((_, k) => (state.kind === "mail" ? MAIL_KEYS[k] : String(k + 1)));
  one("#labelkeys").replaceChildren(...keys.flatMap((key, k) => {
    return [...(k ? [make("br")] : []), make("kbd", {}, key), ` ${state.labels[k]}`];
  }));
}

function listen() {
  const commands = { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
    u: undo, "?": () => one("#keys").showModal() };
  addEventListener("keydown", (event) => {
    const typing = event.target.matches("select, input, textarea") || one("#keys").open;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.matches("li")) return void unfold(event.target.dataset.id);
    const label = labelOf(event.key.toLowerCase());
    const command = Object.hasOwn(commands, event.key) ? commands[event.key] : null;
    if (!command && label === undefined) return;
    event.preventDefault();
    if (command) command();
    else teach(state.selected, label).then(reveal);
  });
  one("#list").addEventListener("click", ({ target }) => {
    const { id } = target.closest("li").dataset;
    const button = target.closest("button");
    if (button) teach(id, state.labels[button.dataset.label] ?? otherLabel());
    else if (state.selected === id) unfold(id);
    else select(id);
  });
  document.addEventListener("visibilitychange", () => document.hidden || !state.learner || load());
  one("#undo").addEventListener("click", undo);
  one("#help").addEventListener("click", commands["?"]);
  one("#learner").addEventListener("change", ({ target }) => follow(target.value));
  one("#files").addEventListener("change", ({ target }) => add([...target.files]));
}

listen();
begin().catch(complain);
