// The picture: lines, nodes, and as many labels as there is room for, on one canvas.

// Boxes side by side: add one, or ask if another is free of them.
function boxes() {
  "use strict";

  const CELL = 80; // pixels of the squares in which they are looked for
  const cells = new Map();
  function* cellsOf([x1, y1, x2, y2]) {
    for (let x = Math.floor(x1 / CELL); x <= x2 / CELL; x += 1) {
      for (let y = Math.floor(y1 / CELL); y <= y2 / CELL; y += 1) yield x * 1e5 + y;
    }
  }
  const over = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return {
    add: (box) => { for (const cell of cellsOf(box)) cells.set(cell, [...(cells.get(cell) || []), box]); },
    free: (box) => ![...cellsOf(box)].some((cell) => cells.get(cell)?.some((other) => over(box, other))),
  };
}

// Draws the nodes and lines given to show(): nodes, most important first, with x, y, size, sign,
// colour, kind, font, lines (of the label), alpha, start, chosen, found and sure (always labelled);
// lines, strongest last, with from, to, width, alpha, near, forth, back and name.
function paint(canvas, colours) {
  "use strict";

  const ROOM = [170, 90], CLOSEST = 1.5, NEAR = 4, FAR = 0.05; // pixels for labels around all; zooms
  const CORNERS = { "■": [[-1, -1], [1, -1], [1, 1], [-1, 1]], "◆": [[0, -1], [1, 0], [0, 1], [-1, 0]],
    "▲": [[0, -1], [1, 1], [-1, 1]] };
  const LINE = 1.25; // height of a line of text by its size

  const pen = canvas.getContext("2d");
  const view = { x: 0, y: 0, zoom: 1 };
  let nodes = [], lines = [], labels = null, due = 0, wide = 0, high = 0;

  const radius = (node) => node.size / 2 * Math.min(1.4, Math.max(0.5, view.zoom));
  const across = (x) => (x - view.x) * view.zoom + wide / 2;
  const down = (y) => (y - view.y) * view.zoom + high / 2;
  const height = (font) => parseInt(font.match(/\d+px/), 10) * LINE;

  function widthOf(text, font) {
    pen.font = font;
    return pen.measureText(text).width;
  }

  function measure(node) { // the label, and the box that the layout keeps apart from others
    node.across = Math.max(...node.lines.map((text) => widthOf(text, node.font))) + 6;
    node.down = height(node.font) * node.lines.length;
    node.width = Math.max(node.size, node.across);
    node.height = node.size + node.down + 4;
  }

  // Places labels around their nodes, the most important first, where they cover no label and no
  // node; labels of records and of nodes that are sure to have one may cover nodes.
  function place() {
    const texts = boxes(), dots = boxes();
    labels = [];
    for (const node of nodes) {
      const r = radius(node) + (node.start ? 6 : 1), x = node.x * view.zoom, y = node.y * view.zoom;
      dots.add([x - r, y - r, x + r, y + r]);
    }
    const put = (owner, x, y, w, h, clear) => {
      const box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
      const cut = Math.abs(x - view.x * view.zoom) > (wide - w) / 2 && across(owner.x) > 0 && across(owner.x) < wide;
      if (cut || !texts.free(box) || (clear && !dots.free(box))) return false;
      texts.add(box);
      labels.push({ owner, w, h, x: x / view.zoom, y: y / view.zoom });
      return true;
    };
    for (const node of nodes) {
      const x = node.x * view.zoom, y = node.y * view.zoom, w = node.across, h = node.down;
      const r = radius(node) + (node.start ? 8 : 4);
      const places = [[x, y + r + h / 2], [x, y - r - h / 2], [x + r + w / 2, y], [x - r - w / 2, y]];
      const needed = node.sure || node.kind === "record";
      if (!places.some((at) => put(node, ...at, w, h, true)) && needed) places.some((at) => put(node, ...at, w, h));
    }
    for (const line of lines) {
      if (!line.name) continue;
      put(line, (line.from.x + line.to.x) / 2 * view.zoom, (line.from.y + line.to.y) / 2 * view.zoom,
        widthOf(line.name, colours.small) + 4, height(colours.small), true);
    }
  }

  function drawLine(line) {
    const x1 = across(line.from.x), y1 = down(line.from.y), x2 = across(line.to.x), y2 = down(line.to.y);
    if (Math.max(x1, x2) < 0 || Math.max(y1, y2) < 0 || Math.min(x1, x2) > wide || Math.min(y1, y2) > high) return;
    pen.globalAlpha = line.alpha;
    pen.lineWidth = line.width;
    pen.strokeStyle = pen.fillStyle = line.near ? colours.mark : colours.edge;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
    if (line.forth && line.name) arrow(x1, y1, x2, y2, radius(line.to) + 2);
    if (line.back && line.name) arrow(x2, y2, x1, y1, radius(line.from) + 2);
  }

  function arrow(x1, y1, x2, y2, short) {
    const long = Math.hypot(x2 - x1, y2 - y1) || 1, x = (x2 - x1) / long, y = (y2 - y1) / long;
    const tip = [x2 - x * short, y2 - y * short], size = 7;
    pen.beginPath();
    pen.moveTo(...tip);
    pen.lineTo(tip[0] - size * (x + y / 2), tip[1] - size * (y - x / 2));
    pen.lineTo(tip[0] - size * (x - y / 2), tip[1] - size * (y + x / 2));
    pen.fill();
  }

  function trace(sign, x, y, r) {
    pen.beginPath();
    if (!(sign in CORNERS)) pen.arc(x, y, r, 0, 2 * Math.PI);
    for (const [dx, dy] of CORNERS[sign] || []) pen.lineTo(x + dx * r, y + dy * r);
    pen.closePath();
  }

  function drawNode(node) {
    const x = across(node.x), y = down(node.y), r = radius(node);
    if (x < -r || y < -r || x > wide + r || y > high + r) return;
    const ring = (by, width, colour) => {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      trace(node.sign, x, y, r + by);
      pen.stroke();
    };
    pen.globalAlpha = node.alpha;
    pen.fillStyle = node.colour;
    trace(node.sign, x, y, r);
    pen.fill();
    if (node.start) ring(5, 2, colours.front);
    if (node.chosen || node.found) ring(2, 3, node.chosen ? colours.mark : colours.front);
  }

  function drawLabel({ owner, w, h, x, y }) {
    const left = across(x), top = down(y) - h / 2, inverse = owner.start;
    if (left < -w || top < -h || left > wide + w || top > high) return;
    pen.globalAlpha = owner.alpha < 0.5 ? owner.alpha : inverse ? 1 : 0.8;
    pen.fillStyle = inverse ? colours.front : colours.back;
    pen.fillRect(left - w / 2, top, w, h);
    pen.globalAlpha = owner.alpha;
    pen.fillStyle = inverse ? colours.back : owner.lines ? colours.front : colours.faint;
    pen.font = owner.font || colours.small;
    const texts = owner.lines || [owner.name];
    texts.forEach((text, row) => pen.fillText(text, left, top + (row + 0.5) * h / texts.length));
  }

  function fitWindow() { // the left stays where it is
    if (wide) view.x += (canvas.clientWidth - wide) / 2 / view.zoom;
    wide = canvas.clientWidth;
    high = canvas.clientHeight;
  }

  function draw() {
    due = 0;
    fitWindow();
    const dots = devicePixelRatio || 1;
    const [width, height] = [Math.round(wide * dots), Math.round(high * dots)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    pen.setTransform(dots, 0, 0, dots, 0, 0);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    if (!labels) place();
    pen.globalAlpha = 1;
    pen.fillStyle = colours.back;
    pen.fillRect(0, 0, wide, high);
    lines.forEach(drawLine);
    for (let at = nodes.length - 1; at >= 0; at -= 1) drawNode(nodes[at]);
    labels.forEach(drawLabel);
  }

  function redraw(moved) { // moved: places or sizes are other ones
    if (moved) labels = null;
    due = due || requestAnimationFrame(draw);
  }

  function zoomBy(factor, x = wide / 2, y = high / 2) {
    const before = view.zoom;
    view.zoom = Math.min(NEAR, Math.max(FAR, before * factor));
    view.x += (x - wide / 2) * (1 / before - 1 / view.zoom);
    view.y += (y - high / 2) * (1 / before - 1 / view.zoom);
    redraw(true);
  }

  // Brings these nodes into the picture, or all.
  function fit(some = []) {
    const of = some.length ? some : nodes;
    if (!of.length) return;
    fitWindow();
    const [xs, ys] = ["x", "y"].map((axis) => of.map((node) => node[axis]));
    const [x1, x2, y1, y2] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const zoom = Math.min((wide - ROOM[0]) / (x2 - x1 || 1), (high - ROOM[1]) / (y2 - y1 || 1));
    Object.assign(view, { x: (x1 + x2) / 2, y: (y1 + y2) / 2, zoom: Math.min(CLOSEST, Math.max(FAR, zoom)) });
    redraw(true);
  }

  // The node whose dot or label is at this place of the canvas.
  function nodeAt(x, y) {
    const at = (box, w, h) => Math.abs(across(box.x) - x) <= w && Math.abs(down(box.y) - y) <= h;
    return nodes.find((node) => at(node, radius(node) + 3, radius(node) + 3))
      || labels?.find((label) => label.owner.lines && at(label, label.w / 2, label.h / 2))?.owner;
  }

  function pan(x, y) {
    view.x -= x / view.zoom;
    view.y -= y / view.zoom;
    redraw(false);
  }

  function show(ofNodes, ofLines) {
    nodes = ofNodes;
    lines = ofLines;
    redraw(true);
  }

  return { fit, measure, nodeAt, pan, redraw, show, view, zoomBy };
}
