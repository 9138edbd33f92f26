// The page of 'lore graph view'. What the store says is only ever set as text.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement, canvas = $("graph");
  const TYPES = { decision: "#d55e00", lesson: "#b565a7", doc: "#0072b2", note: "#b8860b",
    pattern: "#009e73", failure: "#c23b5e", observation: "#3aa6c9", goal: "#5f8a1f",
    concept: "#7f7fd5", entity: "#a05195", file: "#6f8ea0", symbol: "#8d8f96", commit: "#8c6d5a" };
  const OTHER_TYPES = ["#1b8a8a", "#a0522d", "#6a5acd", "#7a7a1f"];
  const SHAPES = { file: "square", symbol: "diamond", commit: "triangle" };
  const SANS = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif';
  const FONTS = { file: `12px ${SANS}`, symbol: `11px ${SANS}`, record: `600 13px ${SANS}` };
  const SIZES = { record: 16, file: 8, symbol: 6 }; // pixels, before a node's lines count
  const KINDS = Object.keys(SIZES); // in the list of a node's neighbours and on the picture, records first
  const FAR = 0.3, OTHER = 0.15; // opacity of what is not next to the chosen node, not found
  const WIDEST = 150; // pixels of a line of a label
  const MANY = 200; // lines that are drawn wide, the strongest; with more each is fainter
  const MOST_NAMED = 40; // lines whose relations can all be read at once

  // --- what there is

  const nodes = data.nodes.map((node, place) => ({ ...node, place, out: [], into: [], parts: [],
    kind: SHAPES[node.type] && node.type !== "commit" ? node.type : "record",
    shape: SHAPES[node.type], start: node.hop === 0, open: false }));
  const edges = data.edges.map(([from, to, relation, strength]) =>
    ({ from: nodes[from], to: nodes[to], relation, strength }));
  for (const node of nodes) {
    node.whole = node.within === null ? null : nodes[node.within];
    if (node.whole) node.whole.parts.push(node);
  }
  for (const edge of edges) {
    edge.from.out.push(edge);
    edge.to.into.push(edge);
  }
  // As a search folds words: neither case nor accents make another one.
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/ς/g, "σ");
  const words = nodes.map((node) => fold(`${node.title} ${node.id} ${node.tags} ${node.text}`));
  const off = { type: new Set(), relation: new Set() };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let chosen = null, aimed = null, forces = null, listed = nodes;

  // A symbol is in its file until that is opened; what was asked for is always seen.
  const seen = (node) => !node.whole || node.whole.open || node.start;
  const folded = (node) => node.parts.filter((part) => !seen(part));
  const byKind = (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
  const several = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const links = (node) => [...node.out, ...node.into];

  function make(tag, text, attributes) {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    return element;
  }

  function counts(items, key) {
    const found = new Map();
    for (const item of items) found.set(item[key], (found.get(item[key]) || 0) + 1);
    return [...found].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  const types = counts(nodes, "type");
  const colourOf = new Map(types.map(([type], place) =>
    [type, TYPES[type] || OTHER_TYPES[place % OTHER_TYPES.length]]));

  // --- the picture

  const colours = { small: `10px ${SANS}` };
  const picture = paint(canvas, colours);

  // The label, broken between words; of a file also how many symbols are folded into it.
  function linesOf(node) {
    const found = [], many = folded(node).length;
    for (const word of `${node.label}${many ? `\u00a0+${many}` : ""}`.split(" ")) {
      const longer = found.length ? `${found.at(-1)} ${word}` : word;
      if (found.length && picture.widthOf(longer, node.font) <= WIDEST) found[found.length - 1] = longer;
      else found.push(word);
    }
    return found;
  }

  // Edges between the same two nodes are one line, as wide as all of them are strong.
  function joined(wanted) {
    const found = new Map();
    for (const edge of edges.filter(wanted)) {
      const [one, other] = [edge.from, edge.to].map((node) => (seen(node) ? node : node.whole));
      if (one === other) continue;
      const forth = one.place < other.place, [from, to] = forth ? [one, other] : [other, one];
      const key = `${from.place} ${to.place}`;
      if (!found.has(key)) found.set(key, { from, to, strength: 0, relations: new Set() });
      const line = found.get(key);
      line.strength += edge.strength;
      line.relations.add(edge.relation);
      line[forth ? "forth" : "back"] = true;
    }
    return [...found.values()];
  }

  // Gives all that is open a place: from the start, or from where it was.
  function arrange(first) {
    const open = nodes.filter(seen);
    for (const node of open) {
      const { whole, kind } = node, degree = [node, ...folded(node)].flatMap(links).length;
      if (node.x === undefined && whole && whole.x !== undefined) {
        const turn = 2.4 * whole.parts.indexOf(node);
        [node.x, node.y] = [whole.x + 40 * Math.cos(turn), whole.y + 40 * Math.sin(turn)];
      }
      node.font = FONTS[kind];
      node.size = SIZES[kind] + 1.8 * Math.log2(1 + degree);
      node.lines = linesOf(node);
      picture.measure(node);
    }
    const own = layout(open, joined(() => true).map(({ from, to }) => [from, to]),
      Math.max(0.6, canvas.clientWidth / (canvas.clientHeight || 1)));
    forces = own;
    own.start(first || still.matches);
    if (first || still.matches) return;
    requestAnimationFrame(function step() {
      if (forces !== own) return;
      if (own.tick()) requestAnimationFrame(step);
      picture.redraw(true);
    });
  }

  function openFile(file, open) {
    if (!file.parts.length) return;
    file.open = open;
    arrange(false);
    if (chosen && !seen(chosen)) choose(file);
    else if (chosen) tell(chosen);
    refresh();
  }

  // --- what is shown of it

  const on = (node) => seen(node) && !off.type.has(node.type);

  function look(sought, lines) {
    const touches = ({ from, to }) => from === chosen || to === chosen;
    const near = new Set(lines.filter(touches).flatMap(({ from, to }) => [from, to]));
    for (const node of nodes) {
      node.far = chosen && node !== chosen && !near.has(node);
      node.found = sought && [node, ...folded(node)].some((part) => part.match);
      node.alpha = sought && !node.found && !near.has(node) ? OTHER : node.far ? FAR : 1;
      node.ring = node === chosen ? "chosen" : node === aimed ? "aimed" : node.found ? "found" : "";
      node.sure = node.start || node === chosen || node === aimed;
      node.colour = colourOf.get(node.type);
    }
    lines.sort((a, b) => touches(a) - touches(b) || a.strength - b.strength);
    for (const [at, line] of lines.entries()) {
      const { from, to, strength, relations: [first, ...more] } = line;
      line.near = touches(line);
      line.width = Math.min(line.near || lines.length - at <= MANY ? 6 : 1, 2 * Math.sqrt(strength));
      line.alpha = line.near ? 1 : (0.2 + 0.5 * Math.min(1, strength)) * Math.min(from.alpha, to.alpha)
        * Math.min(1, Math.max(0.3, MANY / lines.length));
      line.name = (line.near || lines.length <= MOST_NAMED) && (more.length ? `${first} +${more.length}` : first);
    }
    picture.show(nodes.filter(on).sort((a, b) => b.sure - a.sure || a.far - b.far || b.found - a.found
      || byKind(a, b) || b.size - a.size), lines);
  }

  function refresh() {
    const wanted = fold($("find").value).split(/\s+/), sought = wanted.join("") !== "";
    const lines = joined((edge) => !off.relation.has(edge.relation))
      .filter(({ from, to }) => on(from) && on(to));
    for (const node of nodes) {
      node.match = !off.type.has(node.type) && wanted.every((word) => words[node.place].includes(word));
      node.item.hidden = !node.match || !(sought || seen(node));
    }
    look(sought, lines);
    const shown = nodes.filter((node) => !node.item.hidden).length, hidden = nodes.flatMap(folded).length;
    $("count").textContent = sought ? `${shown} of ${nodes.length} match`
      : `${several(shown, "node")}, ${several(lines.length, "line")}`
        + (hidden ? `, ${several(hidden, "symbol")} in their files` : "");
  }

  // What the words of the search find is brought into view, and what has them in its title first.
  function seek() {
    refresh();
    const titled = (node) => fold(node.title).includes(fold($("find").value.trim()));
    listed = [...nodes].sort((a, b) => titled(b) - titled(a));
    $("nodes").append(...listed.map((node) => node.item));
    picture.fit(nodes.filter((node) => on(node) && node.found));
  }

  function filters(kind, rows) {
    $(`${kind}s`).replaceChildren(...rows.map(([name, count]) => {
      const box = make("input", "", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => {
        if (box.checked) off[kind].delete(name);
        else off[kind].add(name);
        refresh();
      });
      const line = make("label"), dot = make("span", "", { class: `swatch ${SHAPES[name] || ""}` });
      dot.style.background = colourOf.get(name);
      line.append(box, ...(kind === "type" ? [dot] : []), make("span", name), make("span", String(count)));
      return line;
    }));
  }

  // --- one node

  function fieldsOf(node) {
    const list = make("dl", "", { class: "fields" });
    const rows = { id: node.id, type: node.type, status: node.status, source: node.source,
      tags: node.tags, file: node.file, hops: node.hop, score: node.score, updated: node.updated };
    for (const name in rows) {
      if (rows[name] === null || rows[name] === "") continue;
      list.append(make("dt", name), make("dd", String(rows[name]), { dir: "auto" }));
    }
    return list;
  }

  // What a node and its symbols are linked to, records first: each with the edge's end elsewhere.
  function neighboursOf(node) {
    const own = new Set([node, ...node.parts]), found = new Map();
    for (const edge of [...own].flatMap(links)) {
      const [arrow, other] = own.has(edge.from) ? ["→", edge.to] : ["←", edge.from];
      const text = `${arrow} ${edge.relation} `, key = `${text}${other.id}`;
      if (!own.has(other) && !found.has(key)) found.set(key, { other, text, strength: edge.strength });
    }
    return [...found.values()].sort((a, b) => byKind(a.other, b.other) || b.strength - a.strength);
  }

  function linkTo({ other, text }) {
    const item = make("li"), button = make("button", "", { type: "button", dir: "auto" });
    const aim = (node) => { aimed = node && !seen(node) ? node.whole : node; refresh(); };
    button.append(make("span", text, { class: "relation" }), other.title);
    button.addEventListener("click", () => { choose(other, true); heed(); });
    button.addEventListener("focus", () => aim(other));
    button.addEventListener("blur", () => aim(null));
    item.append(button);
    return item;
  }

  function tell(node) {
    const found = neighboursOf(node), list = make("ul"), many = node.parts.length;
    const fold = make("button", `${node.open ? "Fold" : "Show"} ${several(many, "symbol")} (o)`,
      { type: "button", "aria-expanded": node.open });
    fold.addEventListener("click", () => { openFile(node, !node.open); heed(); });
    list.append(...found.map(linkTo));
    $("text").replaceChildren(make("h2", node.title, { dir: "auto", tabindex: "-1" }), fieldsOf(node),
      ...(many ? [fold] : []), make("h3", `${several(found.length, "neighbour")} here`), list,
      make("div", node.text.trim() === node.title ? "" : node.text, { class: "body", dir: "auto" }));
    $("text").scrollTop = 0;
  }

  function choose(node, centre) {
    chosen = node;
    aimed = null;
    for (const other of nodes) other.item.firstChild.setAttribute("aria-current", other === node);
    $("text").hidden = !node;
    if (node) {
      if (!seen(node)) openFile(node.whole, true);
      tell(node);
      node.item.scrollIntoView({ block: "nearest" });
      picture.bring(node, centre);
    }
    const hash = node ? `#${encodeURIComponent(node.id)}` : "";
    if (location.hash !== hash) history.pushState(null, "", hash || location.pathname);
    refresh();
  }

  function followHash() {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { /* not one of ours */ }
    const node = nodes.find((one) => one.id === id) || null;
    if (node !== chosen) choose(node, true);
  }

  // --- keys

  function step(from, by) {
    const open = listed.filter((node) => !node.item.hidden);
    const at = open.findIndex((node) => node.item.firstChild === from);
    const next = open[at === -1 ? 0 : at + by];
    if (next) next.item.firstChild.focus();
    else if (by < 0) $("find").focus();
  }

  // To the node's text, from where the arrows lead through its neighbours.
  function heed() {
    if (chosen) $("text").querySelector("h2").focus({ preventScroll: true });
  }

  function stepNeighbour(by) {
    const found = [...$("text").querySelectorAll("li button")];
    const at = found.indexOf(document.activeElement);
    const next = found[at === -1 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length];
    if (next) next.focus();
  }

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target, typing = target === $("find");
    const inList = typing || $("nodes").contains(target);
    if (event.key === "Escape") {
      if (chosen) choose(null);
      else if ($("find").value) { $("find").value = ""; seek(); }
      $("find").focus();
    } else if (event.key === "ArrowDown" && inList) step(target, 1);
    else if (event.key === "ArrowUp" && inList) step(target, -1);
    else if (event.key === "Enter" && typing) {
      const first = listed.find((node) => !node.item.hidden);
      if (first) choose(first, true);
      heed();
    } else if (typing) return;
    else if (event.key === "o" && chosen) {
      const file = chosen.whole || chosen;
      openFile(file, !file.open);
      heed();
    } else if (chosen && event.key in STEPS) stepNeighbour(STEPS[event.key]);
    else if (event.key === "ArrowDown") step(target, 1);
    else if (event.key === "/") $("find").focus();
    else if (event.key === "+") picture.zoomBy(1.25);
    else if (event.key === "-") picture.zoomBy(0.8);
    else if (event.key === "0") picture.fit();
    else return;
    event.preventDefault();
  });

  // --- pointers: one moves a node or all of it, two zoom

  const pointers = new Map();
  let held = null, moved = 0;

  canvas.addEventListener("pointerdown", (event) => {
    if (!pointers.size) [held, moved] = [picture.nodeAt(event.offsetX, event.offsetY), 0];
    pointers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const dx = event.offsetX - before.offsetX, dy = event.offsetY - before.offsetY;
    const other = [...pointers.values()].find((one) => one !== before);
    const apart = (one) => Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY) || 1;
    moved += Math.abs(dx) + Math.abs(dy);
    pointers.set(event.pointerId, event);
    if (moved < 4) return;
    if (other) {
      picture.zoomBy(apart(event) / apart(before), other.offsetX, other.offsetY);
    } else if (held) {
      held.x += dx / picture.view.zoom;
      held.y += dy / picture.view.zoom;
      picture.redraw(true);
    } else picture.pan(dx, dy);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      if (pointers.delete(event.pointerId) && name === "pointerup" && moved < 4) choose(held || null);
    });
  }
  canvas.addEventListener("dblclick", () => { if (held) openFile(held, !held.open); });
  canvas.addEventListener("wheel", (event) => {
    picture.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    event.preventDefault();
  }, { passive: false });

  // --- light and dark

  function setTheme(theme) {
    root.dataset.theme = theme;
    for (const name of ["back", "front", "faint", "mark", "edge"]) {
      colours[name] = getComputedStyle(root).getPropertyValue(`--${name}`).trim();
    }
    picture.redraw(false);
  }

  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));

  // --- all together

  for (const node of nodes) {
    node.item = make("li", "", { class: `${node.start ? "start" : ""} ${node.whole ? "part" : ""}` });
    const button = make("button", node.title, { type: "button", dir: "auto", title: node.id });
    button.addEventListener("click", () => choose(node, true));
    node.item.append(button);
  }
  $("nodes").append(...nodes.map((node) => node.item));
  $("about").textContent = data.about;
  document.title = data.about ? `lore: ${data.about}` : "lore";
  filters("type", types);
  filters("relation", counts(edges, "relation"));
  $("find").addEventListener("input", seek);
  $("fit").addEventListener("click", () => picture.fit());
  new ResizeObserver(() => picture.redraw(false)).observe(canvas);
  addEventListener("popstate", followHash);
  setTheme(system.matches ? "dark" : "light");
  arrange(true);
  refresh();
  picture.fit();
  followHash();
  root.dataset.ready = "yes";
})();
