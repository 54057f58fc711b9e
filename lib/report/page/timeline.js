// The engines over time: a strip of what bounds the region, then a row for each tile and queue.

const kAxis = 20, kStrip = 18, kRow = 13, kTileGap = 7;

class Timeline {
  constructor() {
    this.colourBy = 'layer';
    this.tiles = 'all';
    this.cursor = null;
    this.rows = [];
    this.chart = new Chart('timeline', 100, this);
  }
  setRegion(region) {
    this.region = region;
    this.cursor = null;
    if (this.tiles !== 'all' && Number(this.tiles) >= region.tiles) this.tiles = 'all';
    this.layout();
  }
  layout() {
    const tall = this.tiles !== 'all';
    let y = kAxis;
    this.rows = [{ y, height: kStrip, bars: this.region.path, name: 'bound by', path: true }];
    y += kStrip + kTileGap;
    for (const lane of this.region.lanes) {
      if (tall && lane.tile !== Number(this.tiles)) continue;
      const height = tall ? 2 * kRow : kRow;
      this.rows.push({ ...lane, y, height: height - 2, name: data.queues[lane.queue] });
      y += height + (lane.queue === data.queues.length - 1 ? kTileGap : 0);
    }
    this.chart.setHeight(y);
  }

  draw(context, chart) {
    if (!this.region) return;
    drawTimeAxis(context, chart, kAxis, chart.height);
    this.drawSections(context, chart);
    for (const row of this.rows) {
      this.drawName(context, row);
      context.save();
      context.beginPath();
      context.rect(kGutter, row.y, chart.width - kGutter, row.height);
      context.clip();
      context.fillStyle = colours.stripe;
      context.fillRect(kGutter, row.y, chart.width - kGutter, row.height);
      this.drawRow(context, chart, row);
      context.restore();
    }
    this.drawCursor(context, chart);
    chart.drawSelection(context);
  }
  drawSections(context, chart) {
    const r = this.region;
    for (const cycle of [r.init_cycles, r.init_cycles + r.main_cycles]) {
      const x = Math.round(chart.x(cycle));
      if (x < kGutter + 3 || x > chart.width - 3) continue;
      context.fillStyle = colours.text;
      context.fillRect(x, kAxis - 6, 1, chart.height);
    }
  }
  drawName(context, row) {
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    context.font = '10.5px system-ui, sans-serif';
    context.fillStyle = colours.soft;
    context.fillText(row.name, kGutter - 8, row.y + row.height / 2 + 0.5);
    if (row.path || row.queue !== 0) return;
    context.textAlign = 'left';
    context.font = '600 11px system-ui, sans-serif';
    context.fillStyle = colours.text;
    context.fillText(`tile ${row.tile}`, 0, row.y + row.height / 2 + 0.5);
  }

  colourOf(row, bar) {
    return row.path || this.colourBy === 'bound' ? colours.bounds[bar.bound] : layerColour(bar.layer);
  }
  // Bars of a pixel and more are drawn as they are; narrower ones are added up for each pixel, which is the
  // denser the busier it was, in the colour of the longest.
  drawRow(context, chart, row) {
    const singled = view.pinned >= 0 ? view.pinned : view.hovered;
    const pixel = { x: -1, cycles: 0, longest: 0, bar: null };
    const flush = () => {
      if (pixel.bar && pixel.cycles > 0) {
        context.globalAlpha = Math.max(0.2, Math.min(1, pixel.cycles * chart.scale)) * this.strength(pixel.bar, singled);
        context.fillStyle = this.colourOf(row, pixel.bar);
        context.fillRect(pixel.x, row.y, 1, row.height);
      }
      Object.assign(pixel, { x: -1, cycles: 0, longest: 0, bar: null });
    };
    for (let i = firstVisible(row.bars, view.from); i < row.bars.length; ++i) {
      const bar = row.bars[i];
      if (bar.start > view.to) break;
      const left = chart.x(bar.begin), right = chart.x(bar.moved);
      if (right - left >= 1) {
        flush();
        this.drawBar(context, chart, row, bar, left, right, singled);
        continue;
      }
      const x = Math.floor(left);
      if (x !== pixel.x) flush();
      pixel.x = x;
      pixel.cycles += bar.moved - bar.begin;
      const important = bar.layer === singled ? Infinity : bar.moved - bar.begin;
      if (important >= pixel.longest) Object.assign(pixel, { longest: important, bar });
    }
    flush();
    context.globalAlpha = 1;
  }
  strength(bar, singled) { return singled < 0 || bar.layer === singled ? 1 : dimmed(); }
  drawBar(context, chart, row, bar, left, right, singled) {
    const strength = this.strength(bar, singled);
    context.fillStyle = this.colourOf(row, bar);
    if (!row.path) this.drawTails(context, chart, row, bar, left, right, strength);
    context.globalAlpha = strength;
    const gap = right - left > 4 ? 1 : 0;
    left = Math.max(left, kGutter - 2);
    right = Math.min(right, chart.width + 2);
    context.fillRect(left, row.y, right - left - gap, row.height);
    if (right - left > 60 && strength === 1) this.drawLabel(context, row, bar, left, right - gap);
  }
  // Thin lines: what a copy waits for the DDR channel before, and the latency and overhead after.
  drawTails(context, chart, row, bar, left, right, strength) {
    context.globalAlpha = 0.5 * strength;
    const y = row.y + row.height / 2 - 1, before = chart.x(bar.start), after = chart.x(bar.end);
    if (left - before > 1) context.fillRect(before, y, left - before, 2);
    if (after - right > 1) context.fillRect(right, y, after - right, 2);
  }
  drawLabel(context, row, bar, left, right) {
    const text = row.path ? data.bounds[bar.bound] : this.region.layers[bar.layer]?.operators ?? '';
    context.save();
    context.beginPath();
    context.rect(left, row.y, right - left - 4, row.height);
    context.clip();
    context.fillStyle = '#fff';
    context.font = '10px system-ui, sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.fillText(text, Math.max(left, kGutter) + 4, row.y + row.height / 2 + 0.5);
    context.restore();
  }
  drawCursor(context, chart) {
    if (!this.cursor) return;
    const row = this.rowOf(this.cursor);
    if (!row) return;
    context.strokeStyle = colours.mark;
    context.lineWidth = 2;
    const left = Math.max(chart.x(this.cursor.begin), kGutter), right = Math.min(chart.x(this.cursor.moved), chart.width - 1);
    if (right >= left) context.strokeRect(left, row.y - 1, Math.max(right - left, 2), row.height + 2);
  }
  rowOf(bar) { return this.rows.find((row) => row.bars.includes(bar)); }

  hit(x, y, chart) {
    const row = this.rows.find((r) => y >= r.y && y < r.y + r.height + 2);
    if (!row || x < kGutter) return null;
    const at = chart.cycle(x), slack = 2 / chart.scale;
    let best = null, distance = slack;
    for (let i = firstVisible(row.bars, at - slack); i < row.bars.length && row.bars[i].start <= at + slack; ++i) {
      const bar = row.bars[i], off = Math.max(bar.begin - at, at - bar.moved, 0);
      const tail = at >= bar.start && at <= bar.end ? slack : Infinity;
      if (Math.min(off, tail) <= distance) [best, distance] = [bar, Math.min(off, tail)];
    }
    return best;
  }
  describe(bar) {
    const layer = this.region.layers[bar.layer], where = bar.queue === undefined;
    const title = layer ? layer.operators || `layer ${layer.number}` : 'no layer';
    const spent = integer(bar.moved - bar.begin);
    return details(title, [
      where ? ['critical path', `${spent} cycles bound by ${data.bounds[bar.bound]}`]
        : ['engine', `tile ${bar.tile}, ${data.queues[bar.queue]}`],
      where ? null : bar.count > 1 ? ['instructions', `${integer(bar.count)} merged, from ${instructionName(this.region, bar)}`]
        : ['instruction', instructionName(this.region, bar)],
      where ? null : ['work', `${spent} cycles, bound by ${data.bounds[bar.bound]}`],
      ['time', `${integer(bar.start)} to ${integer(bar.end)}`],
      bar.wait > 0 ? ['waited', `${integer(bar.wait)} cycles for others`] : null,
      bar.begin > bar.start ? ['DDR channel', `free after ${integer(bar.begin - bar.start)} cycles`] : null,
      bar.bytes > 0 ? ['DDR', bytes(bar.bytes)] : null,
      layer ? ['layer', layerLine(layer)] : null,
    ]);
  }
  step(along, across) {
    const current = this.cursor ? this.rowOf(this.cursor) : null;
    let at = current ? this.rows.indexOf(current) : 0;
    if (across !== 0 && current) {
      do at += across; while (this.rows[at] && this.rows[at].bars.length === 0);
      if (!this.rows[at]) return null;
    }
    const bars = this.rows[at].bars;
    if (current && across === 0) return bars[bars.indexOf(this.cursor) + along] ?? null;
    const middle = this.cursor ? this.cursor.begin : view.from;
    return bars[Math.min(firstVisible(bars, middle), bars.length - 1)] ?? null;
  }
}

function layerLine(layer) {
  const bound = layer.mainBound < 0 ? 'hidden behind others' : `bound by ${data.bounds[layer.mainBound]}`;
  return `${layer.kind}${layer.cut ? `, ${layer.cut}` : ''}: ${integer(layer.cycles)} cycles, ${bound}`;
}

// Index of the first bar that ends at or after `cycle`: bars of a row are in order of start and of end.
function firstVisible(bars, cycle) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bars[middle].end < cycle) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The whole time, narrow, with a frame around what is visible; dragging moves it.
class Overview {
  constructor() {
    this.canvas = byId('overview');
    this.context = this.canvas.getContext('2d');
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    view.listeners.push(() => this.draw());
    let held = null;
    const cycle = (e) => (e.offsetX - kGutter) / (this.canvas.clientWidth - kGutter) * view.total;
    this.canvas.addEventListener('pointerdown', (e) => {
      this.canvas.setPointerCapture(e.pointerId);
      const at = cycle(e), half = (view.to - view.from) / 2;
      held = at > view.from && at < view.to ? at - view.from : half;
      view.show(at - held, at - held + 2 * half);
    });
    this.canvas.addEventListener('pointermove', (e) => {
      if (held === null) return;
      const span = view.to - view.from, from = Math.min(Math.max(cycle(e) - held, 0), view.total - span);
      view.show(from, from + span);
    });
    for (const end of ['pointerup', 'pointercancel']) this.canvas.addEventListener(end, () => { held = null; });
  }
  setRegion(region) {
    this.region = region;
    this.draw();
  }
  draw() {
    const c = this.context, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!this.region || width <= kGutter) return;
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    c.scale(devicePixelRatio, devicePixelRatio);
    const scale = (width - kGutter) / view.total;
    c.fillStyle = colours.stripe;
    c.fillRect(kGutter, 0, width - kGutter, height);
    let drawn = -1;
    for (const s of this.region.path) {
      const x = kGutter + s.start * scale, right = kGutter + s.end * scale;
      if (right <= drawn) continue;
      c.fillStyle = colours.bounds[s.bound];
      drawn = Math.max(right, x + 0.5);
      c.fillRect(x, 4, drawn - x, height - 8);
    }
    if (view.to - view.from >= view.total) return;
    const left = kGutter + view.from * scale, right = kGutter + view.to * scale;
    c.globalAlpha = 0.65;
    c.fillStyle = colours.panel;
    c.fillRect(kGutter, 0, left - kGutter, height);
    c.fillRect(right, 0, width - right, height);
    c.globalAlpha = 1;
    c.strokeStyle = colours.mark;
    c.lineWidth = 2;
    c.strokeRect(left, 1, Math.max(right - left, 3), height - 2);
  }
}
