// The playground in a notebook: its points and settings are those of a model of anywidget.

import { one, within } from "./dom.js";
import { USUAL } from "./link.js";
import { begin, load, pause } from "./playground.js";

const PAGE_ONLY = ["aside", "#share"]; // the lesson plan, and the link of the page
const KEPT = ["settings", "points"];

/** Show a model, and tell it what changes; gives what to call when the view is closed. */
export function render(model, root) {
  within(root);
  let shown = {};
  const read = () => {
    shown = Object.fromEntries(KEPT.map((name) => [name, model.get(name)]));
    const points = shown.points.map(([x, y, label]) => ({ x, y, label }));
    load({ points, settings: { ...USUAL, ...shown.settings } });
  };
  const keep = ({ points, settings }) => {
    shown = { settings: { ...settings }, points: points.map(({ x, y, label }) => [x, y, label]) };
    for (const name of KEPT) model.set(name, shown[name]);
    model.save_changes();
  };
  const follow = (name) => () => {
    if (JSON.stringify(model.get(name)) !== JSON.stringify(shown[name])) read();
  };
  begin(keep, null);
  for (const part of PAGE_ONLY) one(part).hidden = true;
  read();
  const followed = KEPT.map((name) => [`change:${name}`, follow(name)]);
  for (const [event, handle] of followed) model.on(event, handle);
  return () => {
    pause();
    for (const [event, handle] of followed) model.off(event, handle);
  };
}
