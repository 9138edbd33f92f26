// Places of the nodes: forces bring neighbours together and keep nodes with their labels apart.
// Nodes have width and height and get x and y; links are pairs of nodes; wide is the window's width
// by its height. The same graph is laid out the same way each time.
function layout(nodes, links, wide) {
  "use strict";

  const inward = 0.04 + 0.4 / Math.sqrt(nodes.length + 1);
  const size = (node) => Math.hypot(node.width, node.height) / 2;
  const ticks = Math.ceil(Math.max(60, Math.min(300, 3e5 / (nodes.length + 1))));
  d3.forceSimulation(nodes).stop()
    .force("link", d3.forceLink(links.map(([source, target]) => ({ source, target })))
      .distance((link) => 30 + size(link.source) / 2 + size(link.target) / 2))
    .force("apart", d3.forceCollide((node) => 0.75 * size(node)))
    .force("charge", d3.forceManyBody().strength((node) => -8 * size(node)).distanceMax(1200))
    .force("x", d3.forceX().strength(inward / wide))
    .force("y", d3.forceY().strength(inward * wide))
    .alphaDecay(1 - Math.pow(0.01, 1 / ticks))
    .tick(ticks);
}
