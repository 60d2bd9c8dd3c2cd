"use strict";
// The page of leafgrad.graph(...).html(): draws the boxes of DATA, opens and closes modules, finds, zooms, pans.
// `place` and `routes` are those of layout.py, line by line; tests/browser compares their results.

const { MARGIN, PADDING, HEADER, HEAD, BOX_GAP, LINE_GAP, STRIP, BORDER_STRIP, PLACE_SWEEPS } = DATA.constants;
const boxes = DATA.boxes;
const opened = new Set(DATA.opened);
let showSaved = false;

// -- layout -----------------------------------------------------------------------------------------------------------

// The links of a level, from the ways of its arrows: [vertex above or below, value].
function links(level) {
  if (level.up) return;
  level.up = level.layer.map(() => []);
  level.down = level.layer.map(() => []);
  for (const [value, vertices] of level.ways)
    for (let i = 1; i < vertices.length; i++) {
      level.down[vertices[i - 1]].push([vertices[i], value]);
      level.up[vertices[i]].push([vertices[i - 1], value]);
    }
}

const median = (ordered) => ordered[Math.floor((ordered.length - 1) / 2)];
const ascending = (a, b) => a - b;

function place(level, sizes) {
  links(level);
  const isBox = (v) => v < sizes.boxes.length;
  const width = (v) => (isBox(v) ? sizes.boxes[v][0] : 0);
  const gap = (v) => (isBox(v) ? BOX_GAP / 2 : LINE_GAP);
  const distance = (left, right) => (width(left) + width(right)) / 2 + gap(left) + gap(right);
  const shift = (above, below, value) =>
    (isBox(above) ? sizes.exit(above, value) : 0) - (isBox(below) ? sizes.entry(below, value) : 0);
  const weight = (above, below) =>
    isBox(above) && isBox(below) ? (level.down[below].length ? 2 : 1) : isBox(above) || isBox(below) ? 3 : 8;
  const x = level.layer.map(() => 0);

  function wishes(vertex, lookUp, lookDown) {
    const found = [];
    let sides = 0;
    const add = (wish, times) => { for (let i = 0; i < times; i++) found.push(wish); };
    if (lookUp && level.up[vertex].length) {
      sides++;
      for (const [v, value] of level.up[vertex]) add(x[v] + shift(v, vertex, value), weight(v, vertex));
    }
    if (lookDown && level.down[vertex].length) {
      sides++;
      for (const [v, value] of level.down[vertex]) add(x[v] - shift(vertex, v, value), weight(vertex, v));
    }
    found.sort(ascending);
    if (!found.length) return [x[vertex]];
    if (sides === 1) found.push((median(found) + found[Math.floor(found.length / 2)]) / 2);
    return found;
  }

  function settle(layer, wished) {
    let packed = 0;
    const shifts = [], pools = [];
    layer.forEach((vertex, index) => {
      if (index) packed += distance(layer[index - 1], vertex);
      shifts.push(packed);
      let pooled = wished[index].map((wish) => wish - packed).sort(ascending), size = 1;
      while (pools.length && pools[pools.length - 1].place > median(pooled)) {
        const last = pools.pop();
        pooled = last.pooled.concat(pooled).sort(ascending);
        size += last.size;
      }
      pools.push({ place: median(pooled), pooled, size });
    });
    let index = 0;
    for (const pool of pools)
      for (let i = 0; i < pool.size; i++, index++) x[layer[index]] = pool.place + shifts[index];
  }

  for (const layer of level.layers)
    for (let i = 1; i < layer.length; i++) x[layer[i]] = x[layer[i - 1]] + distance(layer[i - 1], layer[i]);
  const upwards = [...level.layers].reverse();
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    const both = sweep >= Math.floor(PLACE_SWEEPS / 2);
    for (const lookUp of [true, false])
      for (const layer of lookUp ? level.layers : upwards)
        settle(layer, layer.map((v) => wishes(v, lookUp || both, both || !lookUp)));
  }
  const isLinked = (v) => level.up[v].length || level.down[v].length;
  const centreOf = (vertices) =>
    (Math.min(...vertices.map((v) => x[v] - width(v) / 2)) + Math.max(...vertices.map((v) => x[v] + width(v) / 2))) / 2;
  const linked = [...x.keys()].filter(isLinked);
  const middle = linked.length ? centreOf(linked) : 0;
  for (const layer of level.layers)
    if (!layer.some(isLinked)) {
      const shift = middle - centreOf(layer);
      for (const v of layer) x[v] += shift;
    }
  const left = Math.min(...x.map((one, v) => one - width(v) / 2));
  x.forEach((one, v) => { x[v] = one - left; });
  const tops = [], bottoms = [];
  let y = 0;
  level.layers.forEach((layer, number) => {
    const height = Math.max(0, ...layer.filter(isBox).map((v) => sizes.boxes[v][1]));
    tops.push(y);
    bottoms.push(y + height);
    let sideways = 0;
    for (const v of layer)
      for (const [w, value] of level.down[v]) sideways = Math.max(sideways, Math.abs(x[v] + shift(v, w, value) - x[w]));
    const border =
      (number === 0 && Object.keys(level.entries).length) ||
      (number === level.layers.length - 2 && Object.keys(level.exits).length);
    y += height + Math.min((border ? BORDER_STRIP : STRIP) + 0.08 * sideways, 2.5 * STRIP);
  });
  const size = [Math.max(0, ...x.map((one, v) => one + width(v) / 2)), bottoms.length ? bottoms[bottoms.length - 1] : 0];
  return { x, tops, bottoms, size };
}

function corner(level, placed, box, [width, height]) {
  const layer = level.layer[box];
  const free = placed.bottoms[layer] - placed.tops[layer] - height;
  return [placed.x[box] - width / 2, placed.tops[layer] + (level.down[box].length ? free / 2 : free)];
}

// The arrows of a level: [way, stops], a stop being a vertical piece [x, top, bottom].
function routes(level, placed, sizes) {
  const isBox = (v) => v < sizes.boxes.length;
  return level.ways.map((way) => {
    const [value, vertices, arrives] = way;
    const stops = vertices.map((v) => [placed.x[v], placed.tops[level.layer[v]], placed.bottoms[level.layer[v]]]);
    const first = vertices[0], last = vertices[vertices.length - 1], end = stops[stops.length - 1];
    if (isBox(first)) {
      stops[0][0] += sizes.exit(first, value);
      stops[0][1] = corner(level, placed, first, sizes.boxes[first])[1] + sizes.boxes[first][1];
    }
    if (arrives && isBox(last)) {
      end[0] += sizes.entry(last, value);
      end[2] = corner(level, placed, last, sizes.boxes[last])[1];
    } else if (!arrives) end[2] = end[1];
    return [way, stops];
  });
}

const shown = (box) => (showSaved && box.saved ? box.saved : box);

function layOut(level, group) {
  const inside = level.boxes.map((n) => (opened.has(n) ? layOut(boxes[n].level, boxes[n]) : null));
  const port = (child, value, ports) =>
    PADDING + inside[child].placed.x[inside[child].level[ports][value]] - inside[child].size[0] / 2;
  const sizes = {
    boxes: level.boxes.map((n, i) => (inside[i] ? inside[i].size : shown(boxes[n]).size)),
    exit: (child, value) => (inside[child] ? port(child, value, "exits") : 0),
    entry: (child, value) =>
      inside[child] ? port(child, value, "entries") : boxes[level.boxes[child]].entries[value][0],
  };
  const placed = place(level, sizes);
  if (!group) return { level, sizes, placed, size: placed.size, inside };
  const width = Math.max(placed.size[0], group.titleWidth + 20) + 2 * PADDING;
  const extra = (width - placed.size[0]) / 2 - PADDING;
  placed.x.forEach((one, v) => { placed.x[v] = one + extra; });
  return { level, sizes, placed, size: [width, placed.size[1] + HEADER + 2 * PADDING], inside };
}

// -- drawing ----------------------------------------------------------------------------------------------------------

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const f = (number) => number.toFixed(1);
let rects = {};

function line(stops, head) {
  let [x, top, bottom] = stops[0];
  let path = `M${f(x)} ${f(top)}V${f(bottom)}`;
  stops.slice(1).forEach((stop, i) => {
    const end = head && i === stops.length - 2 ? stop[2] - HEAD : stop[2];
    const bendEnd = Math.min(stop[1], end);
    if (Math.abs(stop[0] - x) > 0.05) {
      const middle = (bottom + bendEnd) / 2;
      path += `C${f(x)} ${f(middle)} ${f(stop[0])} ${f(middle)} ${f(stop[0])} ${f(bendEnd)}`;
    }
    path += `V${f(end)}`;
    x = stop[0];
    bottom = stop[2];
  });
  return path;
}

function titlePlace(textWidth, width, entries) {
  const room = textWidth + 8, left = PADDING - 6, right = width - PADDING + 6;
  const blocked = (test) => entries.some(test);
  return blocked((x) => x < left + room) && !blocked((x) => x > right - room) ? [right, "end"] : [left, "start"];
}

function label(x, y, anchor, words, labels) {
  const text = `<text x="${f(x)}" y="${f(y)}" text-anchor="${anchor}">${escaped(words)}</text>`;
  if (words && !labels.includes(text)) labels.push(text);
}

function draw(number, laid, left, top, out) {
  const { level, placed, sizes, inside } = laid;
  const group = number === null ? null : boxes[number];
  const x0 = group ? left + PADDING : left, y0 = group ? top + HEADER + PADDING : top;
  if (group) {
    rects[number] = [left, top, ...laid.size];
    const move = `transform="translate(${f(left)} ${f(top)})"`;
    const entries = Object.values(level.entries).map((v) => PADDING + placed.x[v]);
    const [x, anchor] = titlePlace(group.titleWidth, laid.size[0], entries);
    out.frames.push(`<g class="${group.kind} frame box" data-box="${number}" tabindex="0" role="button"
      aria-expanded="true" ${move}><rect class="shape" width="${f(laid.size[0])}" height="${f(laid.size[1])}" rx="8"/></g>`);
    out.label.push(`<g class="${group.kind}" ${move}><text class="title" x="${f(x)}" y="19"
      text-anchor="${anchor}">${escaped(group.title)}</text></g>`);
  }
  for (const [way, stops] of routes(level, placed, sizes)) {
    const [value, , arrives, source, target] = way;
    const moved = stops.map(([x, a, b]) => [x0 + x, y0 + a, y0 + b]);
    const end = moved[moved.length - 1];
    if (source === null) moved[0][1] = top;
    if (target === null && arrives) end[2] = top + laid.size[1];
    const [thick, kind, norm] = DATA.values[value];
    const head = arrives && target !== null && !inside[target];
    const tip = norm ? `<title>gradient norm ${norm}</title>` : "";
    out.edges.push(`<path class="edge${kind}" stroke-width="${thick}" d="${line(moved, head)}">${tip}</path>`);
    if (head) {
      const half = 3.4 + thick * 0.45, y = end[2] - HEAD - 1;
      out.edges.push(`<path class="head${kind}"
        d="M${f(end[0] - half)} ${f(y)}L${f(end[0])} ${f(end[2])}L${f(end[0] + half)} ${f(y)}Z"/>`);
      const [, right, left] = boxes[level.boxes[target]].entries[value];
      label(end[0] + half + 3, end[2] - 4, "start", right, out.label);
      label(end[0] - half - 3, end[2] - 4, "end", left, out.label);
    }
  }
  level.boxes.forEach((n, i) => {
    const box = boxes[n], size = sizes.boxes[i];
    const [x, y] = corner(level, placed, i, size);
    if (inside[i]) return draw(n, inside[i], x0 + x, y0 + y, out);
    rects[n] = [x0 + x, y0 + y, ...size];
    const button = box.level ? 'role="button" aria-expanded="false"' : "";
    const name = escaped(box.tip[0]);
    out.boxes.push(`<g class="${box.kind} box" data-box="${n}" tabindex="0" ${button} aria-label="${name}"
      transform="translate(${f(x0 + x)} ${f(y0 + y)})">${shown(box).svg}</g>`);
  });
}

const svg = document.getElementById("graph");
const world = document.getElementById("world");
let size = [1, 1];

function render() {
  const out = { frames: [], edges: [], label: [], boxes: [] };
  rects = {};
  const laid = layOut(DATA.whole, null);
  draw(null, laid, 0, 0, out);
  size = laid.size;
  world.innerHTML = Object.entries(out).map(([name, parts]) => `<g class="${name}">${parts.join("")}</g>`).join("");
  mark();
}

// -- view -------------------------------------------------------------------------------------------------------------

let view = { x: 0, y: 0, scale: 1 };

function show() {
  world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
}

function fit() {
  const { width, height } = svg.getBoundingClientRect();
  const scale = Math.min((width - 2 * MARGIN) / size[0], (height - 2 * MARGIN) / size[1], 1.25);
  // a picture that is much higher than the page is shown from the top, at a size that can be read
  view.scale = Math.max(scale, Math.min(0.6, (width - 2 * MARGIN) / size[0]));
  view.x = (width - size[0] * view.scale) / 2;
  view.y = Math.max(MARGIN, (height - size[1] * view.scale) / 2);
  show();
}

function zoom(factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, 0.02), 8);
  view.x = x - (x - view.x) * (scale / view.scale);
  view.y = y - (y - view.y) * (scale / view.scale);
  view.scale = scale;
  show();
}

function centre(number) {
  const [x, y, w, h] = rects[number];
  const page = svg.getBoundingClientRect();
  view.scale = Math.max(view.scale, 0.7);
  view.x = page.width / 2 - (x + w / 2) * view.scale;
  view.y = page.height / 2 - (y + h / 2) * view.scale;
  show();
}

svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const page = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - page.left, event.clientY - page.top);
}, { passive: false });

let drag = null;
svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: false }; });
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(dx, dy) < 4) return;
  drag = { x: event.clientX, y: event.clientY, moved: true };
  view.x += dx;
  view.y += dy;
  hideTip();
  show();
});
window.addEventListener("pointerup", () => { if (drag) setTimeout(() => { drag = null; }); });

// -- opening and closing ----------------------------------------------------------------------------------------------

function toggle(number) {
  if (!boxes[number].level) return;
  const [x, y] = rects[number];
  opened.has(number) ? opened.delete(number) : opened.add(number);
  render();
  view.x += (x - rects[number][0]) * view.scale;  // its corner stays where it is
  view.y += (y - rects[number][1]) * view.scale;
  show();
}

const boxAt = (event) => event.target.closest && event.target.closest(".box");
svg.addEventListener("click", (event) => {
  const box = boxAt(event);
  if (box && !(drag && drag.moved)) toggle(+box.dataset.box);
});
svg.addEventListener("keydown", (event) => {
  const box = boxAt(event);
  if (!box || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  toggle(+box.dataset.box);
  const again = svg.querySelector(`[data-box="${box.dataset.box}"]`);
  if (again) again.focus();
});

// -- tooltips ---------------------------------------------------------------------------------------------------------

const tip = document.getElementById("tip");
const hideTip = () => { tip.hidden = true; };
function showTip(box, x, y) {
  const [title, ...lines] = boxes[+box.dataset.box].tip;
  tip.innerHTML = `<b>${escaped(title)}</b>` + lines.map((text) => `<div>${escaped(text)}</div>`).join("");
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + "px";
  tip.style.top = Math.max(4, y + 18 + height > innerHeight ? y - height - 10 : y + 18) + "px";
}
svg.addEventListener("pointermove", (event) => {
  const box = boxAt(event);
  if (!box || (drag && drag.moved)) return hideTip();
  showTip(box, event.clientX, event.clientY);
});
svg.addEventListener("pointerleave", hideTip);
svg.addEventListener("focusin", (event) => {
  const box = boxAt(event);
  if (!box || !box.matches(":focus-visible")) return;
  const { left, bottom } = box.getBoundingClientRect();
  showTip(box, left, bottom);
});
svg.addEventListener("focusout", hideTip);

// -- search -----------------------------------------------------------------------------------------------------------

const search = document.getElementById("search");
const count = document.getElementById("count");
let found = [], current = -1;

function mark() {
  for (const element of world.querySelectorAll(".box")) {
    element.classList.toggle("found", found.includes(+element.dataset.box));
    element.classList.toggle("current", found[current] === +element.dataset.box);
  }
  count.textContent = search.value ? (found.length ? `${current + 1} of ${found.length}` : "nothing found") : "";
}

function find() {
  const wanted = search.value.trim().toLowerCase();
  const named = [], others = [];  // what has the word in its title comes first
  boxes.forEach((box, n) => {
    if (box.tip[0].toLowerCase().includes(wanted)) named.push(n);
    else if (box.tip.join("\n").toLowerCase().includes(wanted)) others.push(n);
  });
  found = wanted ? [...named, ...others] : [];
  current = -1;
  found.length ? goTo(0) : mark();
}

function goTo(index) {
  current = index;
  for (let n = boxes[found[current]].parent; n >= 0; n = boxes[n].parent) opened.add(n);
  render();
  centre(found[current]);
}

search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search.value = ""; find(); }
  if (event.key !== "Enter" || !found.length) return;
  goTo((current + (event.shiftKey ? found.length - 1 : 1)) % found.length);
});

// -- buttons ----------------------------------------------------------------------------------------------------------

const middle = () => { const page = svg.getBoundingClientRect(); return [page.width / 2, page.height / 2]; };
const on = (id, action) => { const button = document.getElementById(id); if (button) button.addEventListener("click", action); };
const MOST_OPEN = 1500;

function openAll() {
  const waiting = [...DATA.whole.boxes];
  let seen = waiting.length;
  for (const n of waiting) {  // grows, the outermost first
    if (!boxes[n].level || seen > MOST_OPEN) continue;
    opened.add(n);
    seen += boxes[n].level.boxes.length;
    waiting.push(...boxes[n].level.boxes);
  }
  render();
  fit();
}

on("in", () => zoom(1.25, ...middle()));
on("out", () => zoom(0.8, ...middle()));
on("fit", fit);
on("open", openAll);
on("close", () => { opened.clear(); render(); fit(); });
on("saved", (event) => {
  showSaved = !showSaved;
  event.target.setAttribute("aria-pressed", showSaved);
  render();
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
const theme = () => { document.documentElement.dataset.theme = chosen || (prefersDark.matches ? "dark" : "light"); };
on("theme", () => { chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; theme(); });
prefersDark.addEventListener("change", theme);
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});

theme();
render();
fit();
