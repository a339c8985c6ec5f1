// Mouse, touch and keys on the plane. All changes go through `act`, which the page gives.

import { colour, number, one } from "./dom.js";
import { SIZE } from "./plane.js";

const NEAR = { mouse: 12, pen: 16, touch: 26 }; // in pixels of the screen

const place = (x, y) => `${number(x)}, ${number(y)}`;
export const described = (state, i) =>
  `Point ${i + 1}, ${colour(state.points[i].label)}, at ${place(state.points[i].x, state.points[i].y)}`;

/** Give the point nearest to a place of the picture, within some distance, or null. */
function nearest({ points, at }, [px, py], within) {
  const away = points.map(({ x, y }) => {
    const [qx, qy] = at.to(x, y);
    return Math.hypot(qx - px, qy - py);
  });
  const least = Math.min(...away);
  return least <= within ? away.indexOf(least) : null;
}

/** Listen to the pointer: press on a point to drag it, elsewhere to add one. */
export function listenToPointer(state, act) {
  const plane = one("#plane");
  let dragged = null;
  const read = (event) => {
    const box = plane.getBoundingClientRect();
    const scale = SIZE / box.width;
    return { spot: [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale], scale };
  };
  plane.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { spot, scale } = read(event);
    const hit = nearest(state, spot, (NEAR[event.pointerType] ?? 12) * scale);
    act.remember();
    dragged = hit ?? act.add(...state.at.from(...spot), event.shiftKey ? -state.colour : state.colour);
    act.select(dragged);
    if (dragged !== null) plane.setPointerCapture(event.pointerId);
  });
  plane.addEventListener("pointermove", (event) => {
    if (dragged !== null) act.move(dragged, ...state.at.from(...read(event).spot));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    plane.addEventListener(end, () => {
      if (dragged !== null) act.settle();
      dragged = null;
    });
  }
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Listen to keys while the plane has the focus: a cursor that adds, carries and removes points. */
export function listenToKeys(state, act) {
  const plane = one("#plane");
  const under = () => {
    const found = state.points.findLastIndex(({ x, y }) => x === state.cursor[0] && y === state.cursor[1]);
    return found < 0 ? null : found;
  };
  const go = (x, y) => {
    state.cursor = [x, y];
    if (state.carried !== null) act.move(state.carried, x, y);
    else act.select(under());
    act.say(under() === null ? place(x, y) : described(state, under()));
  };
  const jump = (by) => {
    if (!state.points.length) return;
    const next = ((state.selected ?? (by > 0 ? -1 : 0)) + by + state.points.length) % state.points.length;
    go(state.points[next].x, state.points[next].y);
    act.select(next);
    act.say(described(state, next));
  };
  const add = (label) => {
    act.remember();
    const added = act.add(...state.cursor, label);
    act.select(added);
    if (added !== null) act.settle(`Added. ${described(state, added)}.`);
  };
  const carry = () => {
    if (state.carried !== null) {
      act.settle(`Put down. ${described(state, state.carried)}.`);
      state.carried = null;
    } else if (state.selected !== null) {
      act.remember();
      state.carried = state.selected;
      state.cursor = [state.points[state.carried].x, state.points[state.carried].y];
      act.say(`Carrying ${described(state, state.carried)}. Move it with the arrows, Enter puts it down.`);
    } else add(state.colour);
  };
  const commands = {
    "]": () => jump(1), "[": () => jump(-1), o: () => add(1), b: () => add(-1),
    Enter: carry, " ": carry, f: act.flip, Delete: act.remove, Backspace: act.remove,
  };
  plane.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const command = Object.hasOwn(commands, event.key) ? commands[event.key] : null;
    if (!arrow && !command) return;
    event.preventDefault();
    state.cursor ??= [0, 0];
    if (command) command();
    else {
      const step = state.at.snap * (event.shiftKey ? 1 : 8);
      go(...state.cursor.map((value, k) => state.at.inside(value + step * arrow[k])));
    }
    act.draw();
  });
  plane.addEventListener("focus", () => {
    if (!plane.matches(":focus-visible")) return;
    state.cursor ??= [0, 0];
    act.draw();
  });
  plane.addEventListener("blur", () => {
    Object.assign(state, { cursor: null, carried: null });
    act.draw();
  });
}
