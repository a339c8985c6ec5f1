// The controls around the plane: buttons, menus and the lesson plan.

import { calm, every, listen, make, one } from "./dom.js";
import { writeLessons } from "./lessons.js";
import { USUAL } from "./link.js";
import { ORDERS } from "./orders.js";
import { PRESETS, surprise } from "./presets.js";

const between = (least, value, most) => Math.min(most, Math.max(least, value));

/** Connect all controls with what they do. */
export function connect(state, does) {
  fillMenus(does);
  listenToButtons(state, does);
  listenToMenus(does);
  for (const radio of every("[name=colour]")) {
    radio.addEventListener("change", () => { state.colour = Number(radio.value); });
  }
  listen("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.type !== "number") {
      event.preventDefault();
      does.undo();
    }
  });
}

function fillMenus({ choose }) {
  const option = (value, title) => make("option", { value }, title);
  const presets = Object.entries(PRESETS).map(([name, { title }]) => option(name, title));
  one("#order").append(...Object.entries(ORDERS).map(([name, title]) => option(name, title)));
  one("#preset").append(...presets, option("surprise", "Random points"));
  writeLessons(({ preset, settings }) => {
    const { points, settings: usual } = PRESETS[preset];
    one("#preset").value = preset;
    choose({ points, settings: { ...usual, ...settings } });
    one("#board").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  });
}

function listenToButtons(state, { advance, choose, flip, remove, undo, play, share }) {
  const clicks = {
    flip, remove, undo, play,
    share: () => share(state),
    clear: () => choose({ points: [], settings: state.settings }),
    restart: () => advance(() => state.run.restart()),
    back: () => advance(() => state.run.back()),
    look: () => advance(() => state.run.look()),
    step: () => advance(() => state.run.step()),
  };
  for (const [name, handle] of Object.entries(clicks)) one(`#${name}`).addEventListener("click", () => handle());
}

function listenToMenus({ choose, set, reveal }) {
  const changes = {
    preset(menu) {
      if (menu.value !== "surprise") return choose(PRESETS[menu.value]);
      menu.value = ""; // so that it can be chosen again
      return choose({ points: surprise(Math.floor(Math.random() * 1e9)) });
    },
    affine: ({ checked }) => set({ affine: checked }),
    order: ({ value }) => set({ order: value }),
    seed: ({ value }) => set({ seed: between(0, Math.trunc(value || 0), 999999999) }),
    kernel({ value }) {
      const [kernel, degree = USUAL.degree] = value.split(":");
      set({ kernel, degree: Number(degree) });
    },
    gamma: ({ value }) => set({ gamma: between(0.1, Number(value) || USUAL.gamma, 100) }),
    answer: ({ checked }) => reveal(checked),
  };
  for (const [name, handle] of Object.entries(changes)) {
    one(`#${name}`).addEventListener("change", ({ target }) => handle(target));
  }
}
