// What all drawings over time share: the visible stretch of time, the layer singled out, colours, and how a canvas
// is driven by wheel, drag and keys.

const kGutter = 92;  // pixels left of the time axis, for names
const kLeastSpan = 16;  // cycles

class View {
  constructor() {
    this.listeners = [];
    this.reset(1);
  }
  reset(total) {
    this.total = Math.max(total, 1);
    this.from = 0;
    this.to = this.total;
    this.pinned = -1;  // layer singled out
    this.hovered = -1;
    this.changed();
  }
  changed() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    });
  }
  show(from, to) {
    const span = Math.min(Math.max(to - from, Math.min(kLeastSpan, this.total)), this.total);
    this.from = Math.min(Math.max(from - (span - (to - from)) / 2, 0), this.total - span);
    this.to = this.from + span;
    this.changed();
  }
  // `at`: the cycle that stays where it is.
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(Math.max((this.to - this.from) * factor, Math.min(kLeastSpan, this.total)), this.total);
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, at + (1 - share) * span);
  }
  pan(share) {
    const span = this.to - this.from;
    const from = Math.min(Math.max(this.from + share * span, 0), this.total - span);
    this.show(from, from + span);
  }
  pin(layer) {
    this.pinned = layer === this.pinned ? -1 : layer;
    this.changed();
  }
}

const view = new View();

// Colours of the style sheet, read once for each colour scheme.
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  colours = {
    text: get('--text'), soft: get('--soft'), line: get('--line'), panel: get('--panel'), stripe: get('--stripe'), mark: get('--mark'),
    bounds: data.bounds.map((_, i) => get(`--bound-${i}`)),
    layers: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => get(`--layer-${i}`)),
    memory: [0, 1, 2].map((i) => get(`--memory-${i}`)),
  };
}
// Opacity of what is not the layer singled out; less strict while it is only hovered over.
const dimmed = () => view.pinned >= 0 ? 0.2 : 0.45;
const layerColour = (layer) => colours.layers[layer % colours.layers.length];

// A canvas with the time axis from kGutter to its right edge. `draw(context, chart)` paints it in CSS pixels;
// `hit(x, y)` gives what lies there, or null.
class Chart {
  constructor(id, height, handlers) {
    this.canvas = byId(id);
    this.handlers = handlers;
    this.context = this.canvas.getContext('2d');
    this.setHeight(height);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    view.listeners.push(() => this.draw());
    this.listen();
  }
  setHeight(height) {
    this.height = height;
    this.canvas.style.height = `${height}px`;
    this.resize();
  }
  resize() {
    this.width = this.canvas.clientWidth;
    this.canvas.width = Math.round(this.width * devicePixelRatio);
    this.canvas.height = Math.round(this.height * devicePixelRatio);
    this.draw();
  }
  draw() {
    if (this.width <= kGutter || !this.handlers) return;
    this.context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.handlers.draw(this.context, this);
  }
  get scale() { return (this.width - kGutter) / (view.to - view.from); }
  x(cycle) { return kGutter + (cycle - view.from) * this.scale; }
  cycle(x) { return view.from + (x - kGutter) / this.scale; }

  listen() {
    const c = this.canvas;
    c.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    c.addEventListener('pointerdown', (e) => this.press(e));
    c.addEventListener('pointermove', (e) => this.move(e));
    c.addEventListener('pointerup', (e) => this.release(e));
    c.addEventListener('pointercancel', () => { this.drag = null; });
    c.addEventListener('pointerleave', () => this.leave());
    c.addEventListener('dblclick', () => view.show(0, view.total));
    c.addEventListener('keydown', (e) => this.key(e));
  }
  wheel(e) {
    e.preventDefault();
    const lines = e.deltaMode === 0 ? 1 : 30;
    if (e.altKey && this.handlers.zoomAddress) this.handlers.zoomAddress(Math.exp(e.deltaY * lines * 0.002), e.offsetY);
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) view.pan((e.deltaX || e.deltaY) * lines / this.width);
    else view.zoom(Math.exp(e.deltaY * lines * 0.002), this.cycle(e.offsetX));
  }
  press(e) {
    if (e.button !== 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    this.drag = { x: e.offsetX, y: e.offsetY, from: view.from, to: view.to, select: e.shiftKey, moved: false };
    tip.hide();
  }
  move(e) {
    const d = this.drag;
    if (!d) return this.hover(e);
    if (Math.abs(e.offsetX - d.x) + Math.abs(e.offsetY - d.y) > 3) d.moved = true;
    if (!d.moved) return;
    if (d.select) {
      this.selection = [d.x, e.offsetX].sort((a, b) => a - b);
      return this.draw();
    }
    const shift = (d.x - e.offsetX) / this.scale;
    const from = Math.min(Math.max(d.from + shift, 0), view.total - (d.to - d.from));
    view.show(from, from + d.to - d.from);
    this.handlers.panAddress?.(e.offsetY - d.y);
    d.y = e.offsetY;
  }
  release(e) {
    const d = this.drag;
    this.drag = null;
    if (d && !d.moved) {
      const item = this.handlers.hit(e.offsetX, e.offsetY, this);
      view.pin(item ? item.layer : view.pinned);
    } else if (d && d.select && this.selection) {
      view.show(this.cycle(Math.max(this.selection[0], kGutter)), this.cycle(this.selection[1]));
    }
    this.selection = null;
    this.draw();
  }
  hover(e) {
    const item = this.handlers.hit(e.offsetX, e.offsetY, this);
    this.canvas.style.cursor = item ? 'pointer' : 'default';
    if (item) tip.show(this.handlers.describe(item), e.clientX, e.clientY);
    else tip.hide();
    const layer = item ? item.layer : -1;
    if (layer === view.hovered) return;
    view.hovered = layer;
    view.changed();
  }
  leave() {
    tip.hide();
    if (view.hovered === -1) return;
    view.hovered = -1;
    view.changed();
  }
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const actions = {
      'ArrowLeft': () => view.pan(-0.1), 'ArrowRight': () => view.pan(0.1),
      '+': () => view.zoom(0.7), '=': () => view.zoom(0.7), '-': () => view.zoom(1 / 0.7),
      '0': () => view.show(0, view.total), 'Home': () => view.show(0, view.total),
      'ArrowUp': () => this.step(0, -1), 'ArrowDown': () => this.step(0, 1),
      ',': () => this.step(-1, 0), '.': () => this.step(1, 0),
      'Enter': () => this.handlers.cursor && view.pin(this.handlers.cursor.layer),
      'Escape': () => { view.pinned = -1; this.handlers.cursor = null; byId('detail').replaceChildren(); view.changed(); },
      'PageUp': () => this.handlers.zoomAddress?.(0.7, this.height / 2),
      'PageDown': () => this.handlers.zoomAddress?.(1 / 0.7, this.height / 2),
    };
    if (!actions[e.key] || (e.key.startsWith('Page') && !this.handlers.zoomAddress)) return;
    e.preventDefault();
    actions[e.key]();
  }
  // The keyboard's way to what the mouse hovers over.
  step(along, across) {
    const item = this.handlers.step(along, across);
    if (!item) return;
    this.handlers.cursor = item;
    byId('detail').replaceChildren(...this.handlers.describe(item));
    const start = item.start, end = item.stop ?? item.end, span = view.to - view.from;
    if (end < view.from || start > view.to) view.show((start + end - span) / 2, (start + end + span) / 2);
    view.changed();
  }
  drawSelection(context) {
    if (!this.selection) return;
    context.globalAlpha = 0.2;
    context.fillStyle = colours.mark;
    context.fillRect(this.selection[0], 0, this.selection[1] - this.selection[0], this.height);
    context.globalAlpha = 1;
  }
}

const tip = {
  show(rows, x, y) {
    const box = byId('tip');
    box.replaceChildren(...rows);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, x + 16 + width > innerWidth ? x - 16 - width : x + 16)}px`;
    box.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - height - 8))}px`;
  },
  hide() { byId('tip').hidden = true; },
};

// Details of a bar or range: a title and pairs of name and value.
function details(title, pairs) {
  return [el('strong', null, title),
    el('dl', null, ...pairs.filter(Boolean).flatMap(([name, value]) => [el('dt', null, name), el('dd', null, value)]))];
}

// Round steps for about `wanted` marks over `span`.
function tickStep(span, wanted) {
  const rough = Math.max(span / Math.max(wanted, 1), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
}

function drawTimeAxis(context, chart, top, bottom) {
  const step = tickStep(view.to - view.from, (chart.width - kGutter) / 110);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  for (let cycle = Math.ceil(view.from / step) * step; cycle <= view.to; cycle += step) {
    const x = Math.round(chart.x(cycle)) + 0.5;
    context.fillStyle = colours.line;
    context.fillRect(x - 0.5, top - 6, 1, bottom - top + 6);
    context.fillStyle = colours.soft;
    const label = integer(cycle);
    if (x + 4 + context.measureText(label).width < chart.width) context.fillText(label, x + 4, top - 5);
  }
}
