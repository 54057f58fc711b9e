// The whole graph small, in a corner of its view, with a frame around what is shown: to see where one is, and to go.

const kMapLength = 240, kMapLeast = 40;  // pixels

class GraphMap {
  constructor(view) {
    this.view = view;
    this.canvas = el('canvas', { class: 'graph-map', 'aria-hidden': true });
    const go = (e) => { if (e.buttons & 1) this.goTo(e); };
    this.canvas.addEventListener('pointerdown', (e) => { this.canvas.setPointerCapture(e.pointerId); go(e); });
    this.canvas.addEventListener('pointermove', go);
  }
  // Its size in pixels. Long graphs are drawn wider than they are.
  get size() {
    const { width, height, size } = this.view, scale = Math.min(kMapLength, size.h - 20) / Math.max(width, height);
    return { w: Math.max(width * scale, kMapLeast), h: Math.max(height * scale, kMapLeast) };
  }
  goTo(e) {
    const box = this.canvas.getBoundingClientRect(), { view, size, width, height } = this.view, { w, h } = this.size;
    view.x = (e.clientX - box.left) * width / w - size.w / view.scale / 2;
    view.y = (e.clientY - box.top) * height / h - size.h / view.scale / 2;
    this.view.apply();
  }
  draw() {
    const { view, size, width, height, cards } = this.view, { w, h } = this.size, dots = window.devicePixelRatio || 1;
    const x = (n) => n * w / width, y = (n) => n * h / height;
    const hidden = size.w >= width * view.scale && size.h >= height * view.scale;
    this.canvas.hidden = hidden;
    if (hidden) return;
    Object.assign(this.canvas, { width: w * dots, height: h * dots });
    Object.assign(this.canvas.style, { width: `${w}px`, height: `${h}px` });
    const context = this.canvas.getContext('2d'), style = getComputedStyle(this.canvas);
    context.scale(dots, dots);
    context.fillStyle = style.borderColor;
    for (const c of cards) if (c) context.fillRect(x(c.x - c.w / 2), y(c.y - c.h / 2), Math.max(x(c.w), 1), Math.max(y(c.h), 1));
    context.strokeStyle = style.color;
    context.lineWidth = 2;
    context.strokeRect(x(view.x), y(view.y), x(size.w / view.scale), Math.max(y(size.h / view.scale), 2));
  }
}
