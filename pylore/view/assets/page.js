// The page of 'lore graph view'. What the store says is only ever set as text.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const HOPS = ["#d55e00", "#0072b2", "#009e73", "#b565a7"];
  const TYPES = { decision: "#d55e00", lesson: "#b565a7", doc: "#0072b2", note: "#b8860b",
    pattern: "#009e73", failure: "#c23b5e", observation: "#3aa6c9", goal: "#5f8a1f",
    concept: "#7f7fd5", entity: "#a05195", file: "#5b7f95", symbol: "#8d8f96", commit: "#8c6d5a" };
  const OTHER_TYPES = ["#1b8a8a", "#a0522d", "#6a5acd", "#7a7a1f"];
  const SHAPES = { file: "round-rectangle", symbol: "diamond", commit: "round-triangle" };
  const FAR = 4; // hops from the chosen node from which on a node is as faint as can be
  const FONT = 12, LINE = 15, WIDEST = 120; // pixels of a label
  const CLOSEST = 1.5; // zoom that a few nodes are shown with
  const MOST_LABELLED = 40; // edges whose relations can all be read at once
  const MANY = 800; // edges from which on they are drawn as plain lines

  const nodes = data.nodes.map((node, place) => ({ ...node, place, out: [], into: [], distance: Infinity }));
  const edges = data.edges.map(([from, to, relation, weight], place) =>
    ({ place, from: nodes[from], to: nodes[to], relation, weight }));
  for (const edge of edges) {
    edge.from.out.push(edge);
    edge.to.into.push(edge);
  }
  // As a search folds words: neither case nor accents make another one.
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/ς/g, "σ");
  const words = nodes.map((node) => fold(`${node.title} ${node.id} ${node.tags} ${node.text}`));
  const degree = (node) => node.out.length + node.into.length;
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

  // --- colours

  const types = counts(nodes, "type");
  const typeColour = new Map(types.map(([type], place) =>
    [type, TYPES[type] || OTHER_TYPES[place % OTHER_TYPES.length]]));
  const hopped = nodes.some((node) => node.hop !== null);

  function colourOf(node) {
    if ($("colour").value === "type") return typeColour.get(node.type);
    return HOPS[Math.min(node.hop, HOPS.length - 1)];
  }

  function swatch(colour, type) {
    const dot = make("span", "", { class: `swatch ${SHAPES[type] || ""}`, "aria-hidden": "true" });
    dot.style.background = colour;
    return dot;
  }

  function drawLegend() {
    document.body.dataset.colour = $("colour").value;
    const hops = [...new Set(nodes.map((node) => node.hop))].sort();
    const rows = $("colour").value === "type"
      ? types.map(([type, count]) => [swatch(typeColour.get(type), type), `${type} ${count}`])
      : hops.map((hop) => [swatch(HOPS[hop]), hop === 0 ? "start" : hop === 1 ? "1 hop" : `${hop} hops`]);
    $("legend").replaceChildren(...rows.map(([dot, name]) => {
      const item = make("li");
      item.append(dot, ` ${name}`);
      return item;
    }));
  }

  // --- the picture

  const pen = make("canvas").getContext("2d");
  pen.font = `${FONT}px system-ui, sans-serif`;

  // The width of each line of a label, broken between words where it gets too long.
  function linesOf(text) {
    const lines = [];
    let line = "";
    for (const word of text.split(" ")) {
      if (line && pen.measureText(`${line} ${word}`).width > WIDEST) {
        lines.push(line);
        line = word;
      } else line = line ? `${line} ${word}` : word;
    }
    return [...lines, line].map((one) => pen.measureText(one).width);
  }

  for (const node of nodes) { // what the layout and the labels need to know of its size
    const lines = linesOf(node.label);
    node.size = 14 + 5 * Math.log2(1 + degree(node));
    node.across = Math.max(...lines) + 4;
    node.down = LINE * lines.length;
    node.width = Math.max(node.size, node.across);
    node.height = node.size + 4 + node.down;
  }
  arrange(nodes, edges.map((edge) => [edge.from.place, edge.to.place]),
    Math.max(0.6, $("graph").clientWidth / ($("graph").clientHeight || 1)));

  const graph = cytoscape({
    container: $("graph"),
    elements: [
      ...nodes.map((node) => ({
        data: { id: `n${node.place}`, label: node.label, size: node.size, font: FONT,
          shape: SHAPES[node.type] || "ellipse" },
        position: { x: node.x, y: node.y - (node.height - node.size) / 2 },
      })),
      ...edges.map((edge) => ({
        data: { id: `e${edge.place}`, source: `n${edge.from.place}`, target: `n${edge.to.place}`,
          label: edge.relation, width: 1 + 1.5 * edge.weight },
      })),
    ],
    layout: { name: "preset" },
    maxZoom: 3,
    minZoom: 0.05,
  });
  for (const node of nodes) node.dot = graph.getElementById(`n${node.place}`);
  for (const edge of edges) edge.line = graph.getElementById(`e${edge.place}`);

  function styles() {
    const theme = getComputedStyle(root), colour = (name) => theme.getPropertyValue(name).trim();
    const text = { color: colour("--front"), "text-outline-color": colour("--back"),
      "text-outline-width": 2, "font-family": "system-ui, sans-serif" };
    return [
      { selector: "node", style: { ...text, width: "data(size)", height: "data(size)",
        shape: "data(shape)", "font-size": "data(font)", "text-valign": "bottom", "text-margin-y": 3,
        "text-wrap": "wrap", "text-events": "yes",
        "text-max-width": (element) => WIDEST * element.data("font") / FONT,
        "background-color": (element) => colourOf(nodes[element.id().slice(1)]) } },
      { selector: "edge", style: { ...text, width: "data(width)", "line-color": colour("--edge"),
        "target-arrow-color": colour("--edge"), "target-arrow-shape": "triangle",
        "curve-style": edges.length > MANY ? "haystack" : "bezier", "arrow-scale": 0.9,
        opacity: edges.length > MANY ? 0.35 : 0.7, "font-size": 9, "text-rotation": "autorotate",
        "min-zoomed-font-size": 8 } },
      { selector: edges.length > MOST_LABELLED ? "edge.near" : "edge",
        style: { label: "data(label)" } },
      { selector: ".named", style: { label: "data(label)", "z-index": 2 } },
      { selector: ".off", style: { display: "none" } },
      { selector: ".hop2", style: { opacity: 0.65 } },
      { selector: ".hop3", style: { opacity: 0.4 } },
      { selector: ".hop4", style: { opacity: 0.18 } },
      { selector: ".dim", style: { opacity: 0.12 } },
      { selector: "edge.near", style: { opacity: 1, "line-color": colour("--mark"),
        "target-arrow-color": colour("--mark") } },
      { selector: "node.found", style: { "border-width": 3, "border-color": colour("--front") } },
      { selector: "node.chosen, node.aimed", style: { "border-width": 4,
        "border-color": colour("--mark"), "font-weight": "bold", "z-index": 3 } },
      { selector: "node.aimed", style: { "border-style": "dashed" } },
    ];
  }

  // Shows the labels that there is room for, as large as they can be read: first of the chosen
  // node and of what is near it, of what was found, of records, of what has most edges.
  function nameNodes() {
    const zoom = graph.zoom(), font = FONT / Math.min(1, zoom), placed = [];
    const open = nodes.filter((node) => !node.dot.hasClass("off"));
    open.sort((a, b) => a.distance - b.distance || b.found - a.found
      || (a.type in SHAPES) - (b.type in SHAPES) || degree(b) - degree(a));
    graph.batch(() => {
      for (const node of open) {
        const at = node.dot.position(), scale = font / FONT;
        const box = [at.x - node.across * scale / 2, at.y + node.size / 2,
          at.x + node.across * scale / 2, at.y + node.size / 2 + node.down * scale];
        const free = zoom >= 1 || !placed.some((other) => box[0] < other[2] && other[0] < box[2]
          && box[1] < other[3] && other[1] < box[3]);
        node.dot.toggleClass("named", free);
        if (!free) continue;
        placed.push(box);
        node.dot.data("font", font);
      }
    });
  }

  function showAll(of) {
    const shown = of.length ? of : graph.nodes(":visible");
    graph.fit(shown, 30);
    if (graph.zoom() > CLOSEST) {
      graph.zoom(CLOSEST);
      graph.center(shown);
    }
    nameNodes();
  }

  // --- what is shown of it

  function matches(node) {
    const wanted = fold($("find").value).split(/\s+/);
    return wanted.every((word) => words[node.place].includes(word));
  }

  const drawn = (edge) => !off.relation.has(edge.relation) && !off.type.has(edge.from.type)
    && !off.type.has(edge.to.type);

  // How many hops each node is from the chosen one, along what is drawn.
  function measure() {
    for (const node of nodes) node.distance = chosen ? Infinity : 0;
    if (!chosen) return;
    chosen.distance = 0;
    for (let wave = [chosen], hop = 1; wave.length; hop += 1) {
      const next = [];
      for (const node of wave) {
        for (const edge of [...node.out, ...node.into].filter(drawn)) {
          const other = edge.from === node ? edge.to : edge.from;
          if (other.distance <= hop) continue;
          other.distance = hop;
          next.push(other);
        }
      }
      wave = next;
    }
  }

  function fade(element, distance, match) {
    for (let hop = 2; hop <= FAR; hop += 1) {
      element.toggleClass(`hop${hop}`, hop === Math.min(distance, FAR));
    }
    element.toggleClass("dim", !match);
  }

  function refresh() {
    const sought = $("find").value.trim() !== "";
    let shown = 0;
    measure();
    graph.batch(() => {
      for (const node of nodes) {
        const hidden = off.type.has(node.type), match = matches(node);
        node.found = sought && match;
        node.dot.toggleClass("off", hidden);
        node.dot.toggleClass("found", node.found);
        node.dot.toggleClass("chosen", node === chosen);
        fade(node.dot, node.distance, match || (chosen && node.distance < 2));
        node.item.hidden = hidden || !match;
        if (!node.item.hidden) shown += 1;
      }
      for (const edge of edges) {
        const near = chosen === edge.from || chosen === edge.to;
        edge.line.toggleClass("off", off.relation.has(edge.relation));
        edge.line.toggleClass("near", Boolean(chosen) && near);
        fade(edge.line, near ? 0 : Math.max(edge.from.distance, edge.to.distance),
          near || !sought || (edge.from.found && edge.to.found));
      }
    });
    nameNodes();
    const edgesShown = edges.filter(drawn).length;
    $("count").textContent = `${shown} of ${nodes.length} nodes, ${edgesShown} of ${edges.length} edges`;
  }

  // What the words of the search find is brought into view.
  function seek() {
    refresh();
    showAll(graph.nodes(".found:visible"));
  }

  function filters(into, kind, rows, colour) {
    $(into).replaceChildren(...rows.map(([name, count]) => {
      const box = make("input", "", { type: "checkbox", checked: "" });
      box.addEventListener("change", () => {
        if (box.checked) off[kind].delete(name);
        else off[kind].add(name);
        refresh();
      });
      const line = make("label");
      line.append(box, ...(colour ? [swatch(colour.get(name), name)] : []), make("span", name),
        make("span", String(count)));
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

  function linkTo(edge, other, arrow) {
    const item = make("li"), button = make("button", "", { type: "button", dir: "auto" });
    button.append(make("span", `${arrow} ${edge.relation} `, { class: "relation" }), other.title);
    button.addEventListener("click", () => { choose(other, true); heed(); });
    button.addEventListener("focus", () => other.dot.addClass("aimed named"));
    button.addEventListener("blur", () => { other.dot.removeClass("aimed"); nameNodes(); });
    item.append(button);
    return item;
  }

  function choose(node, centre) {
    chosen = node;
    for (const other of nodes) other.item.firstChild.setAttribute("aria-current", other === node);
    $("text").hidden = !node;
    graph.resize();
    if (node) {
      const links = make("ul");
      links.append(...node.out.map((edge) => linkTo(edge, edge.to, "→")),
        ...node.into.map((edge) => linkTo(edge, edge.from, "←")));
      const count = degree(node);
      $("text").replaceChildren(make("h2", node.title, { dir: "auto", tabindex: "-1" }), fieldsOf(node),
        make("h3", count === 1 ? "1 neighbour here" : `${count} neighbours here`), links,
        make("div", node.text.trim() === node.title ? "" : node.text, { class: "body", dir: "auto" }));
      $("text").scrollTop = 0;
      node.item.scrollIntoView({ block: "nearest" });
      if (centre) { // the node itself: center() would take its label in
        if (graph.zoom() < 1) graph.zoom(1);
        const at = node.dot.renderedPosition();
        graph.panBy({ x: graph.width() / 2 - at.x, y: graph.height() / 2 - at.y });
      }
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
    const open = nodes.filter((node) => !node.item.hidden);
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
    const links = [...$("text").querySelectorAll("li button")];
    const at = links.indexOf(document.activeElement);
    const next = links[at === -1 ? (by > 0 ? 0 : links.length - 1) : (at + by + links.length) % links.length];
    if (next) next.focus();
  }

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

  function zoom(factor) {
    graph.zoom({ level: graph.zoom() * factor,
      renderedPosition: { x: graph.width() / 2, y: graph.height() / 2 } });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target, typing = target === $("find");
    const listed = typing || $("nodes").contains(target);
    if (event.key === "Escape") {
      if (chosen) choose(null);
      else if ($("find").value) { $("find").value = ""; seek(); }
      $("find").focus();
    } else if (event.key === "ArrowDown" && listed) step(target, 1);
    else if (event.key === "ArrowUp" && listed) step(target, -1);
    else if (event.key === "Enter" && typing) {
      const first = nodes.find((node) => !node.item.hidden);
      if (first) choose(first, true);
      heed();
    } else if (typing || target.tagName === "SELECT") return;
    else if (chosen && event.key in STEPS) stepNeighbour(STEPS[event.key]);
    else if (event.key === "ArrowDown") step(target, 1);
    else if (event.key === "/") $("find").focus();
    else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") showAll([]);
    else return;
    event.preventDefault();
  });

  // --- light and dark

  function setTheme(theme) {
    root.dataset.theme = theme;
    graph.style(styles());
  }

  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));

  // --- all together

  for (const node of nodes) {
    node.item = make("li");
    const button = make("button", node.title, { type: "button", dir: "auto", title: node.id });
    button.addEventListener("click", () => choose(node, true));
    node.item.append(button);
  }
  $("nodes").append(...nodes.map((node) => node.item));
  $("notes").append(...data.notes.map((text) => make("li", text, { dir: "auto" })));
  $("about").textContent = data.about;
  document.title = data.about ? `lore: ${data.about}` : "lore";
  if (!hopped) $("colour").options[0].disabled = true;
  filters("types", "type", types, typeColour);
  filters("relations", "relation", counts(edges, "relation"));
  $("find").addEventListener("input", seek);
  $("colour").addEventListener("change", () => { drawLegend(); graph.style(styles()); });
  $("fit").addEventListener("click", () => showAll([]));
  graph.on("tap", "node", (event) => choose(nodes[event.target.id().slice(1)], false));
  let naming = 0;
  graph.on("zoom", () => {
    cancelAnimationFrame(naming);
    naming = requestAnimationFrame(nameNodes);
  });
  graph.on("tap", (event) => { if (event.target === graph) choose(null); });
  addEventListener("popstate", followHash);
  setTheme(system.matches ? "dark" : "light");
  drawLegend();
  refresh();
  showAll([]);
  followHash();
  root.dataset.ready = "yes";
})();
