// Where the nodes of the page stand. Forces bring neighbours together and keep boxes, each a node
// with its label, apart. The same graph is laid out the same way each time.
const layout = (function () {
  "use strict";

  const TICKS = 300, MOST_STEPS = 3e5; // of the first layout; ticks times nodes at most
  const PASSES = 120, GAP = 8; // of the pushing apart; pixels between two boxes

  // A layout of nodes with x, y, width, height and links, pairs of nodes, in a window that is
  // wide: its width by its height. tick() takes a step and returns whether there are more.
  function layout(nodes, links, wide) {
    const inward = 0.04 + 0.4 / Math.sqrt(nodes.length + 1);
    const size = (node) => Math.hypot(node.width, node.height) / 2;
    const forces = d3.forceSimulation(nodes).stop()
      .force("link", d3.forceLink(links.map(([source, target]) => ({ source, target })))
        .distance((link) => 30 + size(link.source) / 2 + size(link.target) / 2))
      .force("charge", d3.forceManyBody().strength((node) => -8 * size(node)).distanceMax(1200))
      .force("x", d3.forceX().strength(inward / wide))
      .force("y", d3.forceY().strength(inward * wide));

    function tick() {
      forces.tick();
      const more = forces.alpha() > 0.01;
      pushApart(nodes, more ? 1 : PASSES);
      return more;
    }

    // Takes all steps of a first layout at once, or lets those follow that a change needs.
    function start(first) {
      const ticks = Math.round(Math.max(60, Math.min(TICKS, MOST_STEPS / (nodes.length + 1))));
      forces.alpha(first ? 1 : 0.2).alphaDecay(1 - Math.pow(0.01, 1 / ticks));
      if (first) while (tick());
    }
    return { start, tick };
  }

  const left = (node) => node.x - node.width / 2;

  function pushApart(nodes, passes) {
    for (let pass = 0, moved = true; moved && pass < passes; pass += 1) {
      moved = false;
      const row = [...nodes].sort((a, b) => left(a) - left(b));
      row.forEach((one, at) => {
        for (let next = at + 1; next < row.length && left(row[next]) < left(one) + one.width + GAP; next += 1) {
          if (part(one, row[next])) moved = true;
        }
      });
    }
  }

  // Moves both of two boxes the shorter way, if they are too near.
  function part(one, other) {
    const across = (one.width + other.width) / 2 + GAP - Math.abs(one.x - other.x);
    const down = (one.height + other.height) / 2 + GAP - Math.abs(one.y - other.y);
    if (across <= 0.5 || down <= 0.5) return false;
    const axis = across < down ? "x" : "y";
    const by = Math.min(across, down) / (one[axis] < other[axis] ? 2 : -2);
    one[axis] -= by;
    other[axis] += by;
    return true;
  }

  return layout;
})();
