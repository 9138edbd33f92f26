// Where the nodes of the page stand. Forces bring neighbours together; then boxes, each a node
// with its label, are pushed apart until none lies over another; nodes without an edge stand in
// rows beneath. The same graph is laid out the same way each time.
const arrange = (function () {
  "use strict";

  const TICKS = 300, MOST_STEPS = 3e5; // of the forces; ticks times nodes at most
  const FEW = 40; // links whose relations are named
  const PASSES = 120, GAP = 10; // of the pushing apart; pixels between two boxes

  // Sets x and y of nodes with width and height; links are pairs of places; wide is the shape
  // of the window: its width by its height.
  function arrange(nodes, links, wide) {
    const linked = new Set(links.flat());
    const placed = nodes.filter((node, place) => linked.has(place));
    const number = new Map(placed.map((node, place) => [node, place]));
    pull(placed, links.map(([from, to]) => ({ source: number.get(nodes[from]), target: number.get(nodes[to]) })), wide);
    pushApart(placed);
    inRows(nodes.filter((node, place) => !linked.has(place)), placed, wide);
  }

  function pull(placed, links, wide) {
    const size = (node) => Math.hypot(node.width, node.height) / 2;
    const inward = 0.04 + 0.4 / Math.sqrt(placed.length + 1);
    const apart = links.length > FEW ? 40 : 90; // room for the names of the relations
    const ticks = Math.round(Math.max(60, Math.min(TICKS, MOST_STEPS / (placed.length + 1))));
    d3.forceSimulation(placed).stop()
      .alphaDecay(1 - Math.pow(0.001, 1 / ticks))
      .force("link", d3.forceLink(links).distance((link) => apart + size(link.source) / 2 + size(link.target) / 2))
      .force("charge", d3.forceManyBody().strength(-600).distanceMax(1200))
      .force("size", d3.forceCollide((node) => 0.7 * size(node)))
      .force("x", d3.forceX().strength(inward / wide))
      .force("y", d3.forceY().strength(inward * wide))
      .tick(ticks);
  }

  function pushApart(placed) {
    for (let pass = 0, moved = true; moved && pass < PASSES; pass += 1) {
      moved = false;
      const row = [...placed].sort((a, b) => left(a) - left(b));
      row.forEach((one, at) => {
        for (let next = at + 1; next < row.length && left(row[next]) < left(one) + one.width + GAP; next += 1) {
          if (part(one, row[next])) moved = true;
        }
      });
    }
  }

  const left = (node) => node.x - node.width / 2;

  // Moves both of two boxes the shorter way, if they are too near.
  function part(one, other) {
    const across = (one.width + other.width) / 2 + GAP - Math.abs(one.x - other.x);
    const down = (one.height + other.height) / 2 + GAP - Math.abs(one.y - other.y);
    if (across <= 0.5 || down <= 0.5) return false;
    if (across < down) {
      const by = one.x < other.x ? across / 2 : -across / 2;
      one.x -= by;
      other.x += by;
    } else {
      const by = one.y < other.y ? down / 2 : -down / 2;
      one.y -= by;
      other.y += by;
    }
    return true;
  }

  function inRows(alone, placed, wide) {
    const edge = (side, most) => placed.reduce((found, node) => Math[most](found, side(node)), 0);
    const from = edge(left, "min"), to = edge((node) => left(node) + node.width, "max");
    const room = Math.max(to - from, Math.sqrt(alone.length * 130 * 70 * wide));
    let x = (from + to - room) / 2, deepest = 0;
    let y = edge((node) => node.y + node.height / 2, "max") + (placed.length ? 60 : 0);
    const start = x;
    for (const node of alone) {
      if (x > start && x + node.width > start + room) {
        x = start;
        y += deepest + 2 * GAP;
        deepest = 0;
      }
      node.x = x + node.width / 2;
      node.y = y + node.height / 2;
      x += node.width + 2 * GAP;
      deepest = Math.max(deepest, node.height);
    }
  }

  return arrange;
})();
