// The page of 'lore graph view'. Text of the store is only ever set as text.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const canvas = $("graph");
  const TYPES = { __proto__: null, decision: "#d55e00", lesson: "#b565a7", doc: "#0072b2", note: "#b8860b",
    pattern: "#009e73", failure: "#c23b5e", observation: "#3aa6c9", goal: "#5f8a1f",
    concept: "#7f7fd5", entity: "#a05195", file: "#6f8ea0", symbol: "#8d8f96", commit: "#8c6d5a" };
  const OTHER_TYPE = "#1b8a8a";
  const SIGNS = { __proto__: null, file: "■", symbol: "◆", commit: "▲" }; // other nodes are round
  const SANS = 'system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif';
  const FONTS = { record: `600 13px ${SANS}`, file: `12px ${SANS}`, symbol: `11px ${SANS}` };
  const KINDS = Object.keys(FONTS); // in lists and in the picture records come first
  const SIZES = { __proto__: null, record: 16, file: 8, symbol: 6 }; // pixels, before a node's lines count
  const FAR = 0.3, OTHER = 0.15; // opacity of nodes not next to the chosen one, and not found
  const MANY = 200; // lines that are drawn wide, the strongest; with more each is fainter
  const MOST_NAMED = 40; // with more lines, only those of the chosen node show their relations

  const byKind = (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
  const several = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
  // As a search folds words: without case and accents.
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/ς/g, "σ");

  const nodes = data.nodes.map((node, place) => ({ ...node, place, edges: [],
    kind: node.type in SIZES ? node.type : "record", start: node.hop === 0,
    sign: SIGNS[node.type], colour: TYPES[node.type] || OTHER_TYPE,
    words: fold(`${node.title} ${node.id} ${node.tags} ${node.text} ${node.symbols}`) }));
  const edges = data.edges.map(([from, to, relation, strength]) =>
    ({ from: nodes[from], to: nodes[to], relation, strength }));
  for (const edge of edges) {
    edge.from.edges.push(edge);
    edge.to.edges.push(edge);
  }
  const off = { type: new Set(), relation: new Set() };
  let chosen = null;

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

  // --- the picture

  const colours = { small: `10px ${SANS}` };
  const picture = paint(canvas, colours);

  // The label in one or two lines; a file's has the number of its symbols.
  function linesOf(node) {
    const many = node.symbols && node.symbols.split(", ").length;
    const label = node.label + (many ? `\u00a0+${many}` : "");
    const at = label.length < 18 ? -1 : label.indexOf(" ", label.length / 2 - 4);
    return at < 0 ? [label] : [label.slice(0, at), label.slice(at + 1)];
  }

  // Edges between the same two nodes are one line, as wide as their strengths together.
  function joined(wanted) {
    const found = new Map();
    for (const { from, to, strength, relation } of edges.filter(wanted)) {
      const forth = from.place < to.place, [first, last] = forth ? [from, to] : [to, from];
      const key = `${first.place} ${last.place}`;
      if (!found.has(key)) found.set(key, { from: first, to: last, strength: 0, relations: new Set() });
      const line = found.get(key);
      line.strength += strength;
      line.relations.add(relation);
      line[forth ? "forth" : "back"] = true;
    }
    return [...found.values()];
  }

  function refresh() {
    const wanted = fold($("find").value).split(/\s+/), sought = wanted.join("") !== "";
    const lines = joined(({ from, to, relation }) => !off.relation.has(relation)
      && !off.type.has(from.type) && !off.type.has(to.type));
    const touches = ({ from, to }) => from === chosen || to === chosen;
    const near = new Set(lines.filter(touches).flatMap(({ from, to }) => [from, to]));
    const shown = nodes.filter((node) => !off.type.has(node.type));
    for (const node of nodes) {
      node.match = !off.type.has(node.type) && wanted.every((word) => node.words.includes(word));
      node.item.hidden = !node.match;
      node.far = chosen && node !== chosen && !near.has(node);
      node.found = sought && node.match;
      node.alpha = sought && !node.found && !near.has(node) ? OTHER : node.far ? FAR : 1;
      node.chosen = node === chosen;
      node.sure = node.start || node.chosen;
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
    picture.show(shown.sort((a, b) => b.sure - a.sure || a.far - b.far || b.found - a.found
      || byKind(a, b) || b.size - a.size), lines);
    const matches = nodes.filter((node) => node.match).length;
    $("count").textContent = sought ? `${matches} of ${nodes.length} match`
      : `${several(matches, "node")}, ${several(lines.length, "line")}`;
  }

  function seek() {
    refresh();
    picture.fit(nodes.filter((node) => node.found));
  }

  function filters(kind, rows) {
    $(`${kind}s`).append(...rows.map(([name, count]) => {
      const box = make("input", "", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => {
        off[kind][box.checked ? "delete" : "add"](name);
        refresh();
      });
      const line = make("label"), sign = make("span", SIGNS[name] || "●");
      sign.style.color = TYPES[name] || OTHER_TYPE;
      line.append(box, ...(kind === "type" ? [sign] : []), make("span", name), make("span", String(count)));
      return line;
    }));
  }

  // --- one node

  // The ends of a node's edges, records first.
  function neighboursOf(node) {
    return node.edges.map(({ from, to, relation, strength }) => (
      { other: from === node ? to : from, text: `${from === node ? "→" : "←"} ${relation} `, strength }
    )).sort((a, b) => byKind(a.other, b.other) || b.strength - a.strength);
  }

  function linkTo(node, text, action) {
    const item = make("li"), button = make("button", "", { type: "button", dir: "auto", title: node.id });
    button.append(make("span", text, { class: "relation" }), node.title);
    button.addEventListener("click", action);
    item.append(button);
    return item;
  }

  function tell(node) {
    const fields = make("dl", "", { class: "fields" }), list = make("ul"), found = neighboursOf(node);
    for (const name of ["id", "type", "status", "source", "tags", "file", "hop", "updated", "symbols"]) {
      if (node[name] === null || node[name] === "") continue;
      fields.append(make("dt", name), make("dd", String(node[name]), { dir: "auto" }));
    }
    list.append(...found.map(({ other, text }) => linkTo(other, text, () => { choose(other); heed(); })));
    $("text").replaceChildren(make("h2", node.title, { dir: "auto", tabindex: "-1" }), fields,
      make("h3", `${several(found.length, "neighbour")} here`), list,
      make("div", node.text.trim() === node.title ? "" : node.text, { class: "body", dir: "auto" }));
    $("text").scrollTop = 0;
  }

  function choose(node, centre = true) {
    chosen = node;
    for (const other of nodes) other.item.firstChild.setAttribute("aria-current", other === node);
    $("text").hidden = !node;
    if (node) {
      tell(node);
      node.item.scrollIntoView({ block: "nearest" });
      if (centre) picture.fit([node]);
    }
    refresh();
  }

  // --- keys

  // Focuses the next node of the list, or the one before.
  function step(by) {
    const buttons = [...$("nodes").querySelectorAll("li:not([hidden]) button")];
    const at = buttons.indexOf(document.activeElement);
    buttons.at(at < 0 ? Math.min(by, 0) : (at + by) % buttons.length)?.focus();
  }

  // Focuses the heading of the text; Tab leads on to the neighbours.
  function heed() {
    if (chosen) $("text").querySelector("h2").focus({ preventScroll: true });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow") && $("text").contains(event.target)) return; // they scroll
    const find = $("find"), typing = event.target === find;
    if (event.key === "Escape") {
      if (chosen) choose(null);
      else if (find.value) { find.value = ""; seek(); }
      find.focus();
    } else if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Enter" && typing) {
      $("nodes").querySelector("li:not([hidden]) button")?.click();
      heed();
    } else if (typing) return;
    else if (event.key === "/") find.focus();
    else if (event.key === "+") picture.zoomBy(1.25);
    else if (event.key === "-") picture.zoomBy(0.8);
    else if (event.key === "0") picture.fit();
    else return;
    event.preventDefault();
  });

  // --- the pointer chooses a node or moves the picture

  let moved = 0;

  canvas.addEventListener("pointerdown", (event) => {
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    if (moved >= 4) picture.pan(event.movementX, event.movementY);
  });
  canvas.addEventListener("pointerup", ({ offsetX, offsetY }) => {
    if (moved < 4) choose(picture.nodeAt(offsetX, offsetY) || null, false);
  });
  canvas.addEventListener("wheel", (event) => {
    picture.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    event.preventDefault();
  }, { passive: false });

  // --- all together

  function takeColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["back", "front", "faint", "mark", "edge"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    picture.redraw(false);
  }

  for (const node of nodes) {
    node.item = linkTo(node, "", () => choose(node));
    if (node.start) node.item.className = "start";
  }
  $("nodes").append(...nodes.map((node) => node.item));
  $("about").textContent = data.about;
  document.title = data.about ? `lore: ${data.about}` : "lore";
  filters("type", counts(nodes, "type"));
  filters("relation", counts(edges, "relation"));
  $("find").addEventListener("input", seek);
  new ResizeObserver(() => picture.redraw(false)).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", takeColours);
  takeColours();
  for (const node of nodes) {
    node.font = FONTS[node.kind];
    node.size = SIZES[node.kind] + 1.8 * Math.log2(1 + node.edges.length);
    node.lines = linesOf(node);
    picture.measure(node);
  }
  layout(nodes, edges.map(({ from, to }) => [from, to]), Math.max(0.6, canvas.clientWidth / (canvas.clientHeight || 1)));
  refresh();
  picture.fit();
  document.documentElement.dataset.ready = "yes";
})();
