// The page of 'lore graph view'. What the store says is only ever set as text.
(function () {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const HOPS = ["#d55e00", "#0072b2", "#009e73", "#b565a7"];
  const TYPES = ["#0072b2", "#d55e00", "#009e73", "#b565a7", "#b8860b", "#3aa6c9", "#8c6d5a",
    "#7f7fd5", "#c23b5e", "#5f8a1f", "#4f6d7a", "#a05195"];
  const LONGEST_LABEL = 44;
  const MOST_LABELLED = 60; // nodes, and edges, whose labels can all be read at once
  const PAIRS = 40e6; // pairs of nodes that the layout may compare: a second or two

  const nodes = data.nodes.map((node, place) => ({ ...node, place, out: [], into: [] }));
  const edges = data.edges.map(([from, to, relation, weight], place) =>
    ({ place, from: nodes[from], to: nodes[to], relation, weight }));
  for (const edge of edges) {
    edge.from.out.push(edge);
    edge.to.into.push(edge);
  }
  // As a search folds words: neither case nor accents make another one.
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/ς/g, "σ");
  const words = nodes.map((node) => fold(`${node.title} ${node.id} ${node.tags} ${node.text}`));
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
  const typeColour = new Map(types.map(([type], place) => [type, TYPES[place % TYPES.length]]));
  const hopped = nodes.some((node) => node.hop !== null);

  function colourOf(node) {
    if ($("colour").value === "type") return typeColour.get(node.type);
    return HOPS[Math.min(node.hop, HOPS.length - 1)];
  }

  function swatch(colour) {
    const dot = make("span", "", { class: "swatch", "aria-hidden": "true" });
    dot.style.background = colour;
    return dot;
  }

  function drawLegend() {
    document.body.dataset.colour = $("colour").value;
    const rows = $("colour").value === "type" ? types.map(([type]) => [type, typeColour.get(type)])
      : [...new Set(nodes.map((node) => node.hop))].sort()
        .map((hop) => [hop === 0 ? "start" : hop === 1 ? "1 hop" : `${hop} hops`, HOPS[hop]]);
    $("legend").replaceChildren(...rows.map(([name, colour]) => {
      const item = make("li");
      item.append(swatch(colour), ` ${name}`);
      return item;
    }));
  }

  // --- the picture

  const label = (text) => text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text;

  function startingPlace(place) { // a sunflower: the same for the same nodes, nothing on one spot
    const angle = place * 2.399963, radius = 60 * Math.sqrt(place + 0.5);
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }

  const weighed = (node) => Math.log2(1 + node.out.length + node.into.length);

  const graph = cytoscape({
    container: $("graph"),
    elements: [
      ...nodes.map((node) => ({
        data: { id: `n${node.place}`, label: label(node.title),
          size: 10 + 5 * weighed(node), font: 8 + 1.2 * weighed(node) },
        position: startingPlace(node.place),
      })),
      ...edges.map((edge) => ({
        data: { id: `e${edge.place}`, source: `n${edge.from.place}`, target: `n${edge.to.place}`,
          label: edge.relation, width: 1 + 2 * edge.weight },
      })),
    ],
    layout: { name: "preset" },
    maxZoom: 3,
    minZoom: 0.05,
  });

  function styles() {
    const theme = getComputedStyle(root), colour = (name) => theme.getPropertyValue(name).trim();
    const text = { color: colour("--front"), "text-outline-color": colour("--back"),
      "text-outline-width": 2, "font-family": "system-ui, sans-serif" };
    return [
      { selector: "node", style: { ...text, label: "data(label)", width: "data(size)",
        height: "data(size)", "font-size": "data(font)", "text-valign": "bottom", "text-margin-y": 2,
        "text-wrap": "wrap", "text-max-width": 90, "text-events": "yes",
        "min-zoomed-font-size": nodes.length > MOST_LABELLED ? 13 : 0, // from afar, hubs only
        "background-color": (element) => colourOf(nodes[element.id().slice(1)]) } },
      { selector: "edge", style: { ...text, width: "data(width)", "line-color": colour("--edge"),
        "target-arrow-color": colour("--edge"), "target-arrow-shape": "triangle",
        "curve-style": "bezier", "arrow-scale": 0.9, opacity: 0.75, "font-size": 8,
        "text-rotation": "autorotate", "min-zoomed-font-size": 7 } },
      { selector: edges.length > MOST_LABELLED ? "edge.near" : "edge",
        style: { label: "data(label)" } },
      { selector: ".off", style: { display: "none" } },
      { selector: ".dim", style: { opacity: 0.15 } },
      { selector: "edge.near", style: { opacity: 1, "line-color": colour("--mark"),
        "target-arrow-color": colour("--mark") } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": colour("--mark"),
        "font-weight": "bold", "min-zoomed-font-size": 0 } },
    ];
  }

  function arrange() {
    const iterations = Math.max(50, Math.min(1000, PAIRS / (nodes.length * nodes.length + 1)));
    graph.layout({ name: "cose", animate: false, randomize: false, fit: true, padding: 40,
      numIter: Math.round(iterations), nodeOverlap: 30, idealEdgeLength: () => 110,
      nodeRepulsion: () => 40000, componentSpacing: 80 }).run();
  }

  // --- what is shown of it

  function matches(node) {
    const wanted = fold($("find").value).split(/\s+/);
    return wanted.every((word) => words[node.place].includes(word));
  }

  function refresh() {
    const found = new Set(nodes.filter(matches));
    let shown = 0;
    graph.batch(() => {
      for (const node of nodes) {
        const hidden = off.type.has(node.type), match = found.has(node);
        const element = graph.getElementById(`n${node.place}`);
        element.toggleClass("off", hidden);
        element.toggleClass("dim", !match);
        node.item.hidden = hidden || !match;
        if (!node.item.hidden) shown += 1;
      }
      for (const edge of edges) {
        const element = graph.getElementById(`e${edge.place}`);
        element.toggleClass("off", off.relation.has(edge.relation));
        element.toggleClass("dim", !(found.has(edge.from) && found.has(edge.to)));
        element.toggleClass("near", chosen === edge.from || chosen === edge.to);
      }
      for (const node of nodes) {
        graph.getElementById(`n${node.place}`).toggleClass("chosen", node === chosen);
      }
    });
    const edgesShown = edges.filter((edge) => !off.relation.has(edge.relation)
      && !off.type.has(edge.from.type) && !off.type.has(edge.to.type)).length;
    $("count").textContent = `${shown} of ${nodes.length} nodes, ${edgesShown} of ${edges.length} edges`;
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
      line.append(box, ...(colour ? [swatch(colour.get(name))] : []), make("span", name),
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
    button.addEventListener("click", () => choose(other, true));
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
      $("text").replaceChildren(make("h2", node.title, { dir: "auto" }), fieldsOf(node),
        make("div", node.text.trim() === node.title ? "" : node.text, { class: "body", dir: "auto" }),
        make("h3", `${node.out.length + node.into.length} edges here`), links);
      $("text").scrollTop = 0;
      node.item.scrollIntoView({ block: "nearest" });
      if (centre) { // the node itself: center() would take its label in
        const at = graph.getElementById(`n${node.place}`).renderedPosition();
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
      else if ($("find").value) { $("find").value = ""; refresh(); }
      $("find").focus();
    } else if (event.key === "ArrowDown" && listed) step(target, 1);
    else if (event.key === "ArrowUp" && listed) step(target, -1);
    else if (event.key === "Enter" && typing) {
      const first = nodes.find((node) => !node.item.hidden);
      if (first) choose(first, true);
    } else if (typing || target.tagName === "SELECT") return;
    else if (event.key === "/") $("find").focus();
    else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") graph.fit(graph.nodes(":visible"), 40);
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
  $("colour").value = hopped ? "hop" : "type";
  if (!hopped) $("colour").options[0].disabled = true;
  filters("types", "type", types, typeColour);
  filters("relations", "relation", counts(edges, "relation"));
  $("find").addEventListener("input", refresh);
  $("colour").addEventListener("change", () => { drawLegend(); graph.style(styles()); });
  $("fit").addEventListener("click", () => graph.fit(graph.nodes(":visible"), 40));
  graph.on("tap", "node", (event) => choose(nodes[event.target.id().slice(1)], false));
  graph.on("tap", (event) => { if (event.target === graph) choose(null); });
  addEventListener("popstate", followHash);
  setTheme(system.matches ? "dark" : "light");
  drawLegend();
  refresh();
  arrange();
  followHash();
  root.dataset.ready = "yes";
})();
