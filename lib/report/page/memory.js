// On-chip memory: address against time, one tile at a time.

const kMemoryHeight = 260, kMemoryTop = 20;
const memoryKinds = ['activations', 'weights', 'workspace'];

class MemoryMap {
  constructor() {
    this.tile = 0;
    this.cursor = null;
    this.chart = new Chart('memory', kMemoryHeight + kMemoryTop + 4, this);
  }
  setRegion(region) {
    this.region = region;
    this.cursor = null;
    this.setTile(this.tile < region.tiles ? this.tile : 0);
  }
  setTile(tile) {
    this.tile = tile;
    this.uses = this.region.memory.filter((use) => use.tiles >> tile & 1);
    this.fitAddresses();
  }
  // What is in use at any time; zooming out reaches all of the memory.
  fitAddresses() {
    const peak = this.uses.reduce((most, use) => Math.max(most, use.end), 0);
    this.low = 0;
    this.high = Math.min(Math.max(1.05 * peak, 1024), data.ocm_bytes);
    view.changed();
  }
  y(at) { return kMemoryTop + (this.high - at) / (this.high - this.low) * kMemoryHeight; }
  at(y) { return this.high - (y - kMemoryTop) / kMemoryHeight * (this.high - this.low); }

  draw(context, chart) {
    if (!this.region) return;
    this.drawAddresses(context, chart);
    drawTimeAxis(context, chart, kMemoryTop, chart.height);
    context.save();
    context.beginPath();
    context.rect(kGutter, kMemoryTop, chart.width - kGutter, kMemoryHeight);
    context.clip();
    const singled = view.pinned >= 0 ? view.pinned : view.hovered;
    for (const use of this.uses) this.drawUse(context, chart, use, singled);
    context.restore();
    context.globalAlpha = 1;
    chart.drawSelection(context);
  }
  drawAddresses(context, chart) {
    context.fillStyle = colours.stripe;
    context.fillRect(kGutter, kMemoryTop, chart.width - kGutter, kMemoryHeight);
    const step = 2 ** Math.max(0, Math.ceil(Math.log2((this.high - this.low) / 8)));
    context.font = '10.5px system-ui, sans-serif';
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (let at = Math.ceil(this.low / step) * step; at <= this.high; at += step) {
      const y = Math.round(this.y(at));
      context.fillStyle = colours.line;
      context.fillRect(kGutter, y, chart.width - kGutter, 1);
      context.fillStyle = colours.soft;
      context.fillText(step >= 1024 ? bytes(at) : address(at), kGutter - 8, y);
    }
  }
  box(chart, use) {
    const left = chart.x(use.start), top = this.y(use.end);
    return { left, top, width: Math.max(chart.x(use.stop) - left, 1), height: Math.max(this.y(use.begin) - top, 1) };
  }
  drawUse(context, chart, use, singled) {
    const { left, top, width, height } = this.box(chart, use);
    if (left > chart.width || left + width < kGutter || top > kMemoryTop + kMemoryHeight || top + height < kMemoryTop) return;
    const x = Math.max(left, kGutter - 2), w = Math.min(left + width, chart.width + 2) - x;
    context.globalAlpha = singled < 0 || use.layer === singled ? 1 : dimmed();
    context.fillStyle = colours.memory[use.kind];
    context.fillRect(x, top, w > 4 ? w - 1 : w, height > 4 ? height - 1 : height);
    if (use === this.cursor) this.drawFrame(context, x, top, w, height);
    if (w > 50 && height > 12) this.drawLabel(context, use, x, top, w, height);
  }
  drawFrame(context, x, top, width, height) {
    context.globalAlpha = 1;
    context.strokeStyle = colours.mark;
    context.lineWidth = 2;
    context.strokeRect(x + 1, top + 1, Math.max(width - 3, 1), Math.max(height - 3, 1));
  }
  drawLabel(context, use, x, top, width, height) {
    context.save();
    context.beginPath();
    context.rect(x, top, width - 5, height);
    context.clip();
    context.fillStyle = '#fff';
    context.font = '10px system-ui, sans-serif';
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const left = Math.max(x, kGutter) + 4, low = height <= 28, y = Math.max(top, kMemoryTop);
    context.fillText(use.name, left, low ? top + height / 2 : y + 9);
    if (!low) context.fillText(bytes(use.end - use.begin), left, y + 22);
    context.restore();
  }

  hit(x, y, chart) {
    if (!this.uses || x < kGutter) return null;
    // Thin ranges are hit within two pixels; of several, the smallest.
    let best = null, least = Infinity;
    for (const use of this.uses) {
      const b = this.box(chart, use), slackX = b.width < 4 ? 2 : 0, slackY = b.height < 4 ? 2 : 0;
      if (x < b.left - slackX || x > b.left + b.width + slackX || y < b.top - slackY || y > b.top + b.height + slackY) continue;
      if (b.width * b.height < least) [best, least] = [use, b.width * b.height];
    }
    return best;
  }
  describe(use) {
    const layer = this.region.layers[use.layer];
    const tiles = [...Array(this.region.tiles).keys()].filter((t) => use.tiles >> t & 1);
    return details(use.name || 'unnamed', [
      ['holds', memoryKinds[use.kind]],
      ['bytes', `${integer(use.end - use.begin)} (${bytes(use.end - use.begin)})`],
      ['addresses', `${address(use.begin)} to ${address(use.end)}`],
      ['tiles', tiles.length === this.region.tiles ? `all ${tiles.length}` : tiles.join(', ')],
      ['time', `${integer(use.start)} to ${integer(use.stop)}, ${integer(use.stop - use.start)} cycles`],
      layer ? ['for', layer.operators || `layer ${layer.number}`] : null,
      layer ? ['layer', layerLine(layer)] : null,
    ]);
  }
  step(along, across) {
    if (this.uses.length === 0) return null;
    const at = this.uses.indexOf(this.cursor) + along + across;
    return this.cursor ? this.uses[at] ?? null : this.uses[0];
  }

  zoomAddress(factor, y) {
    const at = this.at(y), span = Math.min(Math.max((this.high - this.low) * factor, 1024), data.ocm_bytes);
    const share = (at - this.low) / (this.high - this.low);
    this.low = Math.min(Math.max(at - share * span, 0), data.ocm_bytes - span);
    this.high = this.low + span;
    view.changed();
  }
  panAddress(pixels) {
    const span = this.high - this.low;
    this.low = Math.min(Math.max(this.low + pixels / kMemoryHeight * span, 0), data.ocm_bytes - span);
    this.high = this.low + span;
  }
}
