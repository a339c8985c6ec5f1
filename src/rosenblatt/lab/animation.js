(function () {
  "use strict";
  const root = document.currentScript.parentElement;
  const run = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const last = run.example.length;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const SIZE = 460;
  const MOST_DOTS = 60;
  const MISTAKES_PER_SECOND = 0.7;
  const LOOKING = 0.5, TURNING = 0.35; // shares of the time of a mistake; the rest is for reading

  function find(name) {
    return root.querySelector("." + name);
  }

  function write(parent, name, anchor, x, y, text) {
    return make(parent, "text", { class: name, "text-anchor": anchor, x: x, y: y }, text);
  }

  function make(parent, tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    change(element, attributes);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  }

  function change(element, attributes) {
    for (const name in attributes) element.setAttribute(name, attributes[name]);
  }

  function show(element, visible) {
    element.style.display = visible ? "" : "none";
  }

  function squeezed(element, text, room) {
    if (element.textContent === text) return;
    element.textContent = text;
    element.removeAttribute("textLength");
    if (element.getComputedTextLength() <= room) return;
    change(element, { textLength: room, lengthAdjust: "spacingAndGlyphs" });
  }

  function spread(most, wanted) {
    const rough = most / wanted;
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    return power * [1, 2, 5, 10].find((step) => step * power >= rough * 0.999);
  }

  function ticks(low, high, wanted) {
    const step = spread(high - low, wanted);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) {
      found.push(Number((i * step).toPrecision(12)));
    }
    return found;
  }

  function written(value) {
    const size = Math.abs(value);
    const plain = size === 0 || (size >= 1e-3 && size < 1e4);
    return (plain ? String(value) : value.toExponential().replace("+", "")).replaceAll("-", "−");
  }

  // ---- the plane: points, w, the line and its positive side

  function plane(svg) {
    const left = 52, top = 24, width = 394;
    const reach = run.reach;
    const x = (value) => ((value + reach) / (2 * reach)) * width;
    const y = (value) => ((reach - value) / (2 * reach)) * width;
    // An inner picture, because it cuts off what leaves it.
    const inner = make(svg, "svg", { x: left, y: top, width: width, height: width });
    make(svg, "rect", { class: "frame", x: left, y: top, width: width, height: width });
    for (const value of ticks(-reach, reach, 5)) {
      write(svg, "tick", "middle", left + x(value), top + width + 17, written(value));
      squeezed(write(svg, "tick", "end", left - 6, top + y(value) + 5, ""), written(value), left - 6);
    }
    write(svg, "axis", "middle", left + width / 2, SIZE - 5, run.axes[0]);
    write(svg, "axis", "start", left, 16, run.axes[1]);
    return fill(inner, width, x, y);
  }

  // The point of the line w·x + b = 0 that is nearest to the origin; of far lines, one outside.
  function foot(w) {
    const length = Math.hypot(w[0], w[1]), far = 1.5 * run.reach;
    const distance = w.length === 2 ? 0 : Math.min(Math.max(-w[2] / length, -far), far);
    return [distance * (w[0] / length), distance * (w[1] / length)];
  }

  function fill(inner, width, x, y) {
    const side = make(inner, "path", { class: "side" });
    make(inner, "path", { class: "grid", d: `M0 ${y(0)}H${width}M${x(0)} 0V${width}` });
    const star = run.comparator;
    if (star && Math.hypot(star[0], star[1]) > 0) {
      const [p, q] = foot(star), length = Math.hypot(star[0], star[1]) / (3 * run.reach);
      const [a, b] = [star[1] / length, -star[0] / length];
      make(inner, "path", { class: "star", d: `M${x(p - a)} ${y(q - b)}L${x(p + a)} ${y(q + b)}` });
    }
    const hyperplane = make(inner, "path", { class: "hyperplane" });
    const halo = make(inner, "circle", { class: "halo" });
    points(inner, x, y);
    const ring = make(inner, "circle", { class: "ring" });
    const before = arrow(inner, "before", "");
    const added = make(inner, "path", { class: "added" });
    const now = arrow(inner, "now", "w");

    function line(w) {
      const length = Math.hypot(w[0], w[1]);
      show(hyperplane, length > 0);
      show(side, length > 0);
      if (!length) return;
      const far = 3 * run.reach;
      const [a, b] = [(w[0] / length) * far, (w[1] / length) * far];
      const [left, up] = foot(w);
      const place = (p, q) => [x(left + p), y(up + q)];
      const border = `M${place(-b, a)}L${place(b, -a)}`;
      change(hyperplane, { d: border });
      change(side, { d: `${border}L${place(b + a, b - a)}L${place(a - b, a + b)}Z` });
    }

    // The k-th mistake: first it is looked at under the old w, then w turns.
    return function (k, turned, pulse) {
      const was = run.w[Math.max(k - 1, 0)], is = run.w[k];
      const w = was.map((value, j) => value + turned * (is[j] - value));
      const place = (v) => [x(v[0] * run.shrink), y(v[1] * run.shrink)];
      for (const part of [halo, ring, added]) show(part, k > 0);
      line(w);
      now(place([0, 0]), place(w));
      before(place([0, 0]), turned > 0 && k > 0 ? place(was) : place([0, 0]));
      if (!k) return;
      const [px, py] = run.points[run.example[k - 1]];
      change(halo, { cx: x(px), cy: y(py), r: 10 + 8 * pulse });
      change(ring, { cx: x(px), cy: y(py), r: 10 });
      change(added, { d: `M${place(was)}L${place(is)}` });
    };
  }

  function points(inner, x, y) {
    const size = run.points.length > 300 ? 2.5 : 4.5;
    run.points.forEach(([a, b], i) => {
      if (run.positive[i]) {
        const half = size - 0.5, box = { width: 2 * half, height: 2 * half };
        make(inner, "rect", { class: "positive", x: x(a) - half, y: y(b) - half, ...box });
      } else {
        make(inner, "circle", { class: "negative", cx: x(a), cy: y(b), r: size });
      }
    });
  }

  function arrow(parent, name, label) {
    const group = make(parent, "g", { class: name });
    const shaft = make(group, "path", { class: "weights" });
    const tip = make(group, "path", { class: "tip" });
    const text = make(group, "text", { class: "name", "text-anchor": "middle" }, label);
    return function (from, to) {
      const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
      show(group, length > 1);
      if (!(length > 1)) return;
      const [a, b] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
      const head = Math.min(13, length), half = head * 0.42;
      const neck = [to[0] - a * head, to[1] - b * head];
      const corner = (sign) => [neck[0] - sign * b * half, neck[1] + sign * a * half];
      change(shaft, { d: `M${from}L${neck}` });
      change(tip, { d: `M${to}L${corner(1)}L${corner(-1)}Z` });
      change(text, { x: to[0] + a * 13, y: to[1] + b * 13 + 5 });
    };
  }

  // ---- the charts: what grows with k, beside its bounds

  function chart(svg, top, low, high, name) {
    const height = SIZE / 2;
    const left = 56, right = 18, above = 28, below = 36;
    const x = (k) => left + (k / last) * (SIZE - left - right);
    const y = (value) => top + above + ((high - value) / (high - low)) * (height - above - below);
    for (const value of ticks(low, high, 4)) {
      make(svg, "path", { class: "grid", d: `M${left} ${y(value)}H${SIZE - right}` });
      squeezed(write(svg, "tick", "end", left - 6, y(value) + 5, ""), written(value), left - 6);
    }
    for (const k of ticks(0, last, 6).filter(Number.isInteger)) {
      write(svg, "tick", "middle", x(k), y(low) + 17, written(k));
    }
    if (!run.projection || top > 0) {
      write(svg, "axis", "middle", (left + SIZE - right) / 2, top + height - 3, "mistakes k");
    }
    make(svg, "path", { class: "frame", d: `M${left} ${y(high)}V${y(low)}H${SIZE - right}` });
    const heading = write(svg, "heading " + name + "heading", "start", left, top + 16, "");
    const say = (text) => squeezed(heading, text, SIZE - left);
    return { svg: svg, x: x, y: y, high: high, say: say };
  }

  function bound(axes, kind, value, label, at, shift) {
    const steps = Array.from({ length: 201 }, (_, i) => (i / 200) * last);
    const inside = steps.filter((k) => value(k) <= axes.high);
    const places = inside.map((k) => [axes.x(k), axes.y(value(k))]);
    make(axes.svg, "path", { class: kind, d: "M" + places.join("L") });
    const [x, y] = places[Math.floor((places.length - 1) * at)];
    write(axes.svg, "boundtext", "end", Math.max(x, axes.x(0) + 46), y + shift, label);
  }

  function curve(axes, kind, dot, values) {
    const path = make(axes.svg, "path", { class: "curve " + kind });
    const all = values.map((value, k) => [axes.x(k), axes.y(value)]);
    const circle = ([x, y]) => make(axes.svg, "circle", { class: dot, cx: x, cy: y, r: 3 });
    const dots = last <= MOST_DOTS ? all.map(circle) : [];
    const head = make(axes.svg, "circle", { class: dot, r: 4.5 });
    return function (k, turned) {
      const done = turned < 1 ? k - 1 : k;
      const places = all.slice(0, done + 1);
      const on = (j) => all[done][j] + turned * (all[k][j] - all[done][j]);
      if (turned < 1) places.push([on(0), on(1)]);
      const end = places[places.length - 1];
      change(path, { d: "M" + places.join("L") });
      change(head, { cx: end[0], cy: end[1] });
      dots.forEach((each, j) => show(each, j <= done));
    };
  }

  function charts(svg) {
    const R = run.radius, gamma = run.margin;
    const upper = chart(svg, 0, 0, run.heights[0], "squares");
    bound(upper, "bound", (k) => k * R * R, "k·R²", 0.8, -12);
    const curves = [curve(upper, "squares", "squaredot", run.sqnorm)];
    const lower = run.projection && chart(svg, SIZE / 2, run.heights[1], run.heights[2], "products");
    if (lower) {
      bound(lower, "bound upper", (k) => R * Math.sqrt(k), "R·√k", 0.5, -10);
      if (gamma !== null) bound(lower, "bound", (k) => k * gamma, "k·γ", 0.97, -7);
      curves.push(curve(lower, "products", "productdot", run.projection));
    } else {
      const lines = run.products[0].split("\n");
      lines.forEach((line, i) => write(svg, "note", "start", 56, SIZE / 2 + 50 + 22 * i, line));
    }
    return function (k, turned) {
      const done = turned < 1 ? k - 1 : k;
      upper.say(run.squares[done]);
      if (lower) lower.say(run.products[done]);
      for (const draw of curves) draw(k, turned);
    };
  }

  // ---- time: a position between 0 and `last`; k - 1 < position <= k shows the k-th mistake

  const drawPlane = plane(find("plane")), drawCharts = charts(find("charts"));
  let position = 0, goal = 0, playing = false;
  let request = null, then = null, shown = null;

  function draw() {
    const k = Math.ceil(position);
    const share = k ? position - k + 1 : 1;
    const eased = Math.min(Math.max((share - LOOKING) / TURNING, 0), 1);
    const turned = eased * eased * (3 - 2 * eased);
    const flashing = request !== null && share < LOOKING && !calm.matches;
    drawPlane(k, turned, flashing ? Math.pow(Math.sin((2 * Math.PI * share) / LOOKING), 2) : 0);
    drawCharts(k, turned);
    if (k === shown) return;
    shown = k;
    find("caption").textContent = run.captions[k];
    find("mistake").value = k;
    find("mistake").setAttribute("aria-valuetext", `${k} of ${last}`);
    root.dataset.mistake = k;
  }

  function tick(now) {
    request = null;
    // A tab in the background gets no frames; what it missed is not made up for.
    const seconds = then === null ? 0 : Math.min((now - then) / 1000, 0.25);
    then = now;
    const rate = MISTAKES_PER_SECOND * Number(find("speed").value);
    position = Math.min(goal, position + seconds * rate);
    if (position < goal) request = requestAnimationFrame(tick);
    if (calm.matches && position < goal) {
      const exact = position;
      position = Math.floor(position);
      draw();
      position = exact;
    } else draw();
    if (request === null) announce(false);
  }

  function announce(plays) {
    playing = plays;
    find("play").textContent = plays ? "Pause" : "Play";
    find("caption").setAttribute("aria-live", plays ? "off" : "polite");
  }

  function move(target) {
    goal = target;
    then = null;
    if (position < goal) request = requestAnimationFrame(tick);
  }

  function stop() {
    if (request !== null) cancelAnimationFrame(request);
    request = null;
    goal = Math.ceil(position);
    announce(false);
  }

  function jump(k) {
    position = Math.min(Math.max(k, 0), last);
    stop();
    draw();
  }

  function play() {
    if (playing) return stop();
    stop();
    if (position >= last) jump(0);
    announce(true);
    move(last);
  }

  // A step that is still under way counts as taken.
  function reached() {
    return playing ? Math.ceil(position) : goal;
  }

  function step() {
    const next = Math.min(reached() + 1, last);
    jump(calm.matches ? next : reached());
    move(next);
  }

  function back() {
    jump(reached() - 1);
  }

  // ---- what people do

  const KEYS = {
    " ": play,
    ArrowRight: step,
    ArrowLeft: back,
    Home: () => jump(0),
    End: () => jump(last),
  };

  function press(event) {
    const target = event.target.tagName;
    const own = { SELECT: true, INPUT: event.key !== " ", BUTTON: event.key === " " };
    if (!KEYS[event.key] || own[target] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  find("play").addEventListener("click", play);
  find("step").addEventListener("click", step);
  find("back").addEventListener("click", back);
  find("reset").addEventListener("click", () => jump(0));
  find("mistake").addEventListener("input", () => jump(Number(find("mistake").value)));
  const alone = root.parentElement.hasAttribute("data-alone");
  (alone ? document : root).addEventListener("keydown", press);
  // On paper, a run that was not looked at is shown as a whole.
  window.addEventListener("beforeprint", () => position === 0 && jump(last));
  draw();
  if (alone && !calm.matches) play();
})();
