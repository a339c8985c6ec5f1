// The playground as a page: what is on it is kept in the address.

import { one } from "./dom.js";
import { USUAL, fromLink, toLink } from "./link.js";
import { begin, load } from "./playground.js";
import { PRESETS } from "./presets.js";

function store(state) {
  try {
    history.replaceState(null, "", toLink(state));
  } catch { // some browsers allow a hundred in half a minute; the next change stores this one, too
  }
}

async function share(state) {
  store(state);
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

begin(store, share);
addEventListener("hashchange", open);
open();
