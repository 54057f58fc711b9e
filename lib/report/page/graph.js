// The graph as SVG: zoomed, moved, searched; regions fold up. Its layout comes with the data (lib/report/graph):
// x and the ranks stay, heights of ranks are added up again when a region is folded.

const kRankGap = 34, kRegionHead = 26, kRegionPad = 12, kPort = 10;  // as lib/report/graph/layout.h and nested.h
const kFolded = { w: 170, h: 46 };
const kMostHits = 40;

// SVG's name space as the parser knows it: the page names no address.
const kSvgSpace = (() => {
  const template = document.createElement('template');
  template.innerHTML = '<svg></svg>';
  return template.content.firstChild.namespaceURI;
})();

function svgEl(tag, attributes, ...children) {
  const element = document.createElementNS(kSvgSpace, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Of each graph the one with an item that opens it; none of the model's.
function parentsOf(graphs) {
  const parents = [];
  graphs.forEach((graph, i) => graph.items.forEach((item) => (item.bodies ?? []).forEach((body) => { parents[body] ??= i; })));
  return parents;
}

class GraphView {
  // `start`: the graph to open first. `onLayer(region's id, layer)` goes to a layer of a region; may be missing.
  constructor(root, graphs, start, onLayer) {
    this.graphs = graphs;
    this.parents = parentsOf(graphs);
    this.onLayer = onLayer;
    this.svg = svgEl('svg', { class: 'graph', tabindex: 0, role: 'application', 'aria-label': 'Graph of the model; the keys n and p go through it' });
    this.panel = el('div', { class: 'facts', 'aria-live': 'polite', tabindex: 0, role: 'region', 'aria-label': 'Facts' });
    this.map = new GraphMap(this);
    this.tools = el('div', { class: 'tools graph-tools' });
    root.replaceChildren(this.tools, el('div', { class: 'graph-body' }, el('div', { class: 'graph-view' }, this.svg, this.map.canvas), this.panel));
    this.listen();
    this.open(start);
  }
  open(index) {
    this.index = index;
    this.graph = this.graphs[index];
    this.folded = new Set();
    this.selected = -1;
    this.hits = [];
    this.readsOf = this.graph.items.map(() => []);
    this.usersOf = this.graph.items.map(() => []);
    for (const edge of this.graph.edges) {
      this.readsOf[edge[1]].push(edge);
      this.usersOf[edge[0]].push(edge);
    }
    this.longest = Math.max(...this.graph.items.map((item) => item.seconds ?? 0), 0);
    this.showTools();
    this.showFacts();
    this.draw();
    this.start();
  }

  showTools() {
    const button = (text, label, action) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: action }, text);
    this.search = el('input', { type: 'search', placeholder: 'name, operator, value', 'aria-label': 'search', oninput: () => this.find(this.search.value),
      onkeydown: (e) => { if (e.key === 'Enter') this.nextHit(e.shiftKey ? -1 : 1); } });
    this.found = el('span', { class: 'soft', 'aria-live': 'polite' });
    const parts = [el('label', { class: 'choice' }, 'find', this.search), this.found];
    if (this.graphs.length > 1)
      parts.push(choice('graph', this.graphs.map((_, i) => [String(i), this.graphName(i)]), String(this.index), (value) => this.open(Number(value))));
    const group = el('span', { class: 'group' }, button('−', 'zoom out', () => this.zoom(0.7)), button('+', 'zoom in', () => this.zoom(1 / 0.7)),
      button('fit', 'fit: show everything', () => this.fit()));
    if (this.graph.regions.length > 0)
      group.append(button('fold', 'fold all regions', () => this.foldAll(true)), button('unfold', 'unfold all regions', () => this.foldAll(false)));
    const parent = this.parents[this.index];
    if (parent !== undefined) parts.push(el('span', { class: 'group' }, el('button', { type: 'button', onclick: () => this.open(parent) }, `up to ${this.graphName(parent)}`)));
    this.tools.replaceChildren(...parts, group);
  }

  graphName(index) { return index === 0 ? 'the model, all of it' : this.graphs[index].name; }

  // Positions: { left, top, w, h } of each box of the outer level, with what is folded.
  place() {
    const level = this.graph.outer, heights = level.top.map(() => 0);
    const size = ([kind, index, , w, h]) => kind === 1 && this.folded.has(index) ? kFolded : { w, h };
    for (const box of level.boxes) heights[box[5]] = Math.max(heights[box[5]], size(box).h);
    const tops = [];
    let y = 0;
    for (const h of heights) {
      tops.push(y);
      y += h + kRankGap;
    }
    this.height = Math.max(y - kRankGap, 1);
    this.width = Math.max(level.w, 1);
    const boxes = level.boxes.map((box) => ({ ...size(box), x: box[2], top: tops[box[5]], share: size(box).w / Math.max(box[3], 1) }));
    return { tops, heights, boxes };
  }

  draw() {
    this.cards = [];
    this.paths = [];
    const scene = svgEl('g', { class: 'scene' });
    this.scene = scene;
    const { tops, heights, boxes } = this.place();
    this.drawLevel(scene, this.graph.outer, boxes, tops, heights, 0, 0);
    this.svg.replaceChildren(scene);
    this.mark();
    if (this.view) this.apply();
  }
  drawLevel(parent, level, boxes, tops, heights, dx, dy) {
    level.boxes.forEach(([kind, index], i) => { if (kind === 1) this.drawRegion(parent, index, boxes[i], dx, dy); });
    for (const route of level.routes) this.drawRoute(parent, level, boxes, tops, heights, route, dx, dy);
    level.boxes.forEach(([kind, index], i) => {
      if (kind === 0) this.drawCard(parent, index, boxes[i], dx, dy);
      if (kind === 2) this.drawPort(parent, index, boxes[i], dx, dy);
    });
  }
  drawRegion(parent, index, box, dx, dy) {
    const left = dx + box.x - box.w / 2, top = dy + box.top, folded = this.folded.has(index), region = this.graph.regions[index];
    const title = `region ${region.id}${region.seconds === undefined ? '' : `, ${duration(region.seconds)}`}`;
    const name = svgEl('text', { class: 'region-name', x: left + 24, y: top + 17 }, title);
    const sign = svgEl('text', { class: 'region-sign', x: left + 9, y: top + 17 }, folded ? '▸' : '▾');
    const frame = svgEl('rect', { class: 'region', x: left, y: top, width: box.w, height: box.h, rx: 10 });
    const head = svgEl('rect', { class: 'region-head', x: left, y: top, width: box.w, height: folded ? box.h : kRegionHead, rx: 10, tabindex: 0, role: 'button',
      'aria-label': `${folded ? 'unfold' : 'fold'} ${title}` });
    head.dataset.region = index;
    parent.append(frame, name, sign);
    if (folded) parent.append(svgEl('text', { class: 'line start', x: left + 24, y: top + 34 }, `${integer(this.graph.inner[index].boxes.filter((b) => b[0] === 0).length)} layers`));
    else this.drawInner(parent, this.graph.inner[index], left + kRegionPad, top + kRegionHead);
    parent.append(head);
  }
  drawInner(parent, level, dx, dy) {
    const boxes = level.boxes.map(([, , x, w, h, rank]) => ({ x, w, h, top: level.top[rank], share: 1 }));
    const heights = level.top.map((top, r) => (r + 1 < level.top.length ? level.top[r + 1] - kRankGap : level.h) - top);
    this.drawLevel(parent, level, boxes, level.top, heights, dx, dy);
  }
  drawCard(parent, index, box, dx, dy) {
    const item = this.graph.items[index], left = dx + box.x - box.w / 2, top = dy + box.top;
    const card = svgEl('g', { class: `item ${item.kind}` }, svgEl('rect', { class: 'card-box', x: left, y: top, width: box.w, height: box.h, rx: 6 }));
    const long = this.longest > 0 ? (item.seconds ?? 0) / this.longest * (box.w - 12) : 0;
    if (long >= 1) card.append(svgEl('rect', { class: 'long', x: left + 6, y: top + box.h - 4, width: long, height: 3 }));
    card.append(svgEl('text', { class: 'title', x: dx + box.x, y: top + 21 }, item.title));
    item.lines.forEach((line, i) => card.append(svgEl('text', { class: 'line', x: dx + box.x, y: top + 35 + 14 * i }, line)));
    card.dataset.item = index;
    this.cards[index] = { card, x: dx + box.x, y: top + box.h / 2, w: box.w, h: box.h };
    parent.append(card);
  }
  drawPort(parent, value, box, dx, dy) {
    const [name, type] = this.graph.values[value];
    parent.append(svgEl('circle', { class: 'port', cx: dx + box.x, cy: dy + box.top + kPort / 2, r: 4 }, svgEl('title', null, `${name}: ${type}`)));
  }
  drawRoute(parent, level, boxes, tops, heights, [value, from, to, fromDx, toDx, cut, via], dx, dy) {
    const a = boxes[from], b = boxes[to];
    let x = dx + a.x + fromDx * a.share, y = dy + a.top + a.h, rank = level.boxes[from][5];
    const endX = dx + b.x + toDx * b.share, endY = dy + b.top;
    let d = `M${x} ${y}`;
    const curve = (toX, toY) => {
      const middle = (y + toY) / 2;
      d += `C${x} ${middle} ${toX} ${middle} ${toX} ${toY}`;
      [x, y] = [toX, toY];
    };
    if (cut) d += `v12M${endX} ${endY}v-12`;
    else {
      for (const bend of via) {
        rank += 1;
        curve(dx + bend, dy + tops[rank]);
        y = dy + tops[rank] + heights[rank];
        d += `V${y}`;
      }
      curve(endX, endY);
    }
    const [name, type, precision] = this.graph.values[value];
    const path = svgEl('path', { class: cut ? 'edge cut' : 'edge', d }, svgEl('title', null, `${name}: ${type}${precision ? `, ${precision}` : ''}`));
    (this.paths[value] ??= []).push(path);
    parent.append(path);
  }

  // What is selected or found, without drawing anew.
  mark() {
    const hits = new Set(this.hits);
    this.cards.forEach(({ card }, i) => {
      card.classList.toggle('selected', i === this.selected);
      card.classList.toggle('hit', hits.has(i));
    });
    for (const path of this.hot ?? []) path.classList.remove('hot');
    this.hot = [];
    if (this.selected < 0) return;
    for (const [, , value] of [...this.readsOf[this.selected], ...this.usersOf[this.selected]])
      for (const path of this.paths[value] ?? []) {
        path.classList.add('hot');
        this.hot.push(path);
      }
  }
  select(index, go = false) {
    this.selected = index;
    if (index >= 0 && !this.cards[index]) {
      this.folded.delete(this.graph.items[index].region);
      this.draw();
    }
    this.mark();
    this.showFacts();
    if (go && index >= 0) this.centre(index);
  }
  fold(region) {
    if (!this.folded.delete(region)) this.folded.add(region);
    this.draw();
  }
  foldAll(folded) {
    this.folded = new Set(folded ? this.graph.regions.keys() : []);
    this.draw();
    this.fit();
  }

  // Where a picture of modules does not have it, in the whole graph.
  find(text) {
    const hits = this.hitsOf(text);
    if (hits.length === 0 && text.trim() !== '' && this.index !== 0 && this.parents.includes(this.index)) {
      this.open(0);
      this.search.value = text;
      this.search.focus();
      return this.find(text);
    }
    this.hits = hits;
    this.found.textContent = text.trim() === '' ? '' : hits.length === 1 ? '1 found' : `${integer(hits.length)} found`;
    this.mark();
    if (hits.length > 0) this.select(hits[0], true);
  }
  hitsOf(text) {
    const wanted = text.trim().toLowerCase();
    const holds = (item) => [item.title, item.name, item.kind, ...(item.nodes ?? []).flat()].some((t) => t && t.toLowerCase().includes(wanted));
    return wanted === '' ? [] : [...this.graph.items.keys()].filter((i) => holds(this.graph.items[i]) ||
      this.usersOf[i].some(([, , value]) => this.graph.values[value][0].toLowerCase().includes(wanted)));
  }
  nextHit(step) {
    if (this.hits.length === 0) return;
    const at = this.hits.indexOf(this.selected);
    this.select(this.hits[(at + step + this.hits.length) % this.hits.length], true);
  }

  // The view: what is at the top left, and pixels a unit.
  apply() {
    const { x, y, scale } = this.view;
    this.scene.setAttribute('transform', `scale(${scale}) translate(${-x} ${-y})`);
    this.svg.classList.toggle('far', scale < 0.4);
    this.map.draw();
  }
  get size() { return { w: this.svg.clientWidth || 1, h: this.svg.clientHeight || 1 }; }
  fit() {
    const { w, h } = this.size, scale = Math.min(1.2, w / (this.width + 32), h / (this.height + 32));
    this.view = { scale, x: this.width / 2 - w / scale / 2, y: this.height / 2 - h / scale / 2 };
    this.apply();
  }
  // As much as can be read.
  start() {
    this.fit();
    if (this.view.scale >= 0.6) return;
    const { w } = this.size, scale = Math.min(1, Math.max(0.6, w / (this.width + 32)));
    const first = this.cards.find((c) => c) ?? { x: 0 };
    const wide = this.width * scale > w;
    this.view = { scale, x: (wide ? first.x : this.width / 2) - w / scale / 2, y: -16 };
    this.apply();
  }
  centre(index) {
    const { card, x, y } = this.cards[index], { w, h } = this.size, scale = Math.max(this.view.scale, 0.8);
    this.view = { scale, x: x - w / scale / 2, y: y - h / scale / 2 };
    this.apply();
    return card;
  }
  zoom(factor, at = { x: this.size.w / 2, y: this.size.h / 2 }) {
    const scale = Math.min(Math.max(this.view.scale * factor, 0.02), 4), v = this.view;
    this.view = { scale, x: v.x + at.x / v.scale - at.x / scale, y: v.y + at.y / v.scale - at.y / scale };
    this.apply();
  }
  pan(dx, dy) {
    this.view.x -= dx / this.view.scale;
    this.view.y -= dy / this.view.scale;
    this.apply();
  }

  listen() {
    const s = this.svg, held = new Map();
    const at = (e) => { const box = s.getBoundingClientRect(); return { x: e.clientX - box.left, y: e.clientY - box.top }; };
    let moved = 0, target = null;
    s.addEventListener('wheel', (e) => {
      e.preventDefault();
      const lines = e.deltaMode === 0 ? 1 : 30;
      if (e.shiftKey) this.pan(-(e.deltaX || e.deltaY) * lines, 0);
      else this.zoom(Math.exp(-e.deltaY * lines * 0.002), at(e));
    }, { passive: false });
    s.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      if (held.size === 0) [moved, target] = [0, e.target];
      held.set(e.pointerId, at(e));
      s.setPointerCapture(e.pointerId);
    });
    s.addEventListener('pointermove', (e) => {
      const before = held.get(e.pointerId);
      if (!before) return;
      const now = at(e), other = [...held].find(([id]) => id !== e.pointerId)?.[1];
      held.set(e.pointerId, now);
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (!other) { if (moved > 3) this.pan(now.x - before.x, now.y - before.y); return; }
      const far = (p) => Math.max(Math.hypot(p.x - other.x, p.y - other.y), 1);
      this.zoom(far(now) / far(before), other);
    });
    for (const end of ['pointerup', 'pointercancel']) s.addEventListener(end, (e) => {
      if (!held.delete(e.pointerId) || held.size > 0 || moved > 3 || e.type === 'pointercancel') return;
      this.press(target);
    });
    s.addEventListener('dblclick', (e) => {
      const item = e.target.closest('.item') ?? document.elementFromPoint(e.clientX, e.clientY)?.closest('.item');
      if (item) this.enter(Number(item.dataset.item));
    });
    s.addEventListener('keydown', (e) => this.key(e));
    new ResizeObserver(() => { if (this.view) this.apply(); }).observe(s);
  }
  // Opens what an item holds.
  enter(index) {
    const body = this.graph.items[index]?.bodies?.[0];
    if (body !== undefined) this.open(body);
  }
  press(target) {
    const head = target.closest('.region-head'), item = target.closest('.item');
    if (head) this.fold(Number(head.dataset.region));
    else this.select(item ? Number(item.dataset.item) : -1);
  }
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const count = this.graph.items.length, step = (by) => this.select((this.selected + by + count) % count, true);
    const actions = { ArrowLeft: () => this.pan(60, 0), ArrowRight: () => this.pan(-60, 0), ArrowUp: () => this.pan(0, 60), ArrowDown: () => this.pan(0, -60),
      '+': () => this.zoom(1.4), '=': () => this.zoom(1.4), '-': () => this.zoom(1 / 1.4), '0': () => this.fit(), n: () => step(1), p: () => step(this.selected < 0 ? 0 : -1),
      '/': () => this.search.focus(), Escape: () => this.select(-1), Enter: () => (e.target.closest('.region-head') ? this.press(e.target) : this.enter(this.selected)) };
    if (!actions[e.key]) return;
    e.preventDefault();
    actions[e.key]();
  }

  showFacts() {
    if (this.selected < 0) {
      const kinds = { layer: 'layer of the accelerator', host: 'on the CPU', call: 'call of a library', node: 'operator', input: 'input or output' };
      const there = Object.keys(kinds).filter((kind) => this.graph.items.some((item) => item.kind === kind));
      this.panel.replaceChildren(el('p', { class: 'soft' }, `${integer(this.graph.items.length)} items. Click one for its facts, twice to open what it holds.`),
        el('ul', { class: 'kinds' }, ...there.map((kind) => el('li', null, el('i', { class: `kind ${kind}` }), kinds[kind]))));
      return;
    }
    const item = this.graph.items[this.selected], region = this.graph.regions[item.region];
    const row = (name, value) => value === undefined || value === '' ? [] : [el('dt', null, name), el('dd', null, value)];
    const nodes = (item.nodes ?? []).map(([id, name, op, from]) => el('li', null, `${op} `, el('b', null, name), ` ${id}${from ? `, from ${from}` : ''}`));
    this.panel.replaceChildren(el('h3', null, item.full),
      el('ul', { class: 'onnx' }, ...nodes),
      el('dl', null,
        ...row('runs', item.kind === 'layer' ? `region ${region.id}, layer ${item.layer}` : item.kind === 'host' ? 'on the CPU' : item.target),
        ...row('layer', item.layer_kind && `${item.layer_kind}${item.cut ? `, ${item.cut}` : ''}, by rule ${item.rule}`),
        ...row('time', item.seconds === undefined ? undefined : `${item.cycles === undefined ? '' : `${integer(item.cycles)} cycles, `}${duration(item.seconds)}`),
        ...row('result', item.type), ...row('precision', item.precision), ...row('MACs', item.macs && integer(item.macs)),
        ...row('constants', item.weights_bytes && bytes(item.weights_bytes)), ...row('why', item.reason)),
      ...this.links('reads', this.readsOf[this.selected], 0), ...this.links('is read by', this.usersOf[this.selected], 1),
      ...this.actions(item));
  }
  links(title, edges, end) {
    if (edges.length === 0) return [];
    const links = edges.slice(0, kMostHits).map((edge) => el('li', null, el('button', { type: 'button', class: 'link', onclick: () => this.select(edge[end], true) },
      this.graph.items[edge[end]].title), el('span', { class: 'soft' }, ` ${this.graph.values[edge[2]][0]}: ${this.graph.values[edge[2]][1]}`)));
    if (edges.length > kMostHits) links.push(el('li', { class: 'soft' }, `and ${integer(edges.length - kMostHits)} more`));
    return [el('h4', null, title), el('ul', null, ...links)];
  }
  actions(item) {
    const button = (text, action) => el('button', { type: 'button', onclick: action }, text);
    const list = (item.bodies ?? []).map((body) => button(`open ${this.graphs[body].name}`, () => this.open(body)));
    if (item.kind === 'layer' && this.onLayer) list.push(button('show in the timeline', () => this.onLayer(this.graph.regions[item.region].id, item.layer)));
    return list.length === 0 ? [] : [el('p', { class: 'group' }, ...list)];
  }
}
