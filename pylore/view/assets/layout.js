// Where the nodes of the page stand: forces bring neighbours together and keep nodes with their
// labels apart. The same graph is laid out the same way each time.

// A layout of nodes with x, y, width and height and links, pairs of nodes, in a window that is
// wide: its width by its height. tick() takes a step and returns whether there are more.
function layout(nodes, links, wide) {
  "use strict";

  const inward = 0.04 + 0.4 / Math.sqrt(nodes.length + 1);
  const size = (node) => Math.hypot(node.width, node.height) / 2;
  const forces = d3.forceSimulation(nodes).stop()
    .force("link", d3.forceLink(links.map(([source, target]) => ({ source, target })))
      .distance((link) => 30 + size(link.source) / 2 + size(link.target) / 2))
    .force("apart", d3.forceCollide((node) => 0.75 * size(node)))
    .force("charge", d3.forceManyBody().strength((node) => -8 * size(node)).distanceMax(1200))
    .force("x", d3.forceX().strength(inward / wide))
    .force("y", d3.forceY().strength(inward * wide));

  function tick() {
    forces.tick();
    return forces.alpha() > 0.01;
  }

  // Takes all steps of a first layout at once, or lets those follow that a change needs.
  function start(first) {
    const ticks = Math.max(60, Math.min(300, 3e5 / (nodes.length + 1)));
    forces.alpha(first ? 1 : 0.2).alphaDecay(1 - Math.pow(0.01, 1 / ticks));
    while (first && tick());
  }

  return { start, tick };
}
