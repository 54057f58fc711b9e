// The data behind the page, unpacked. The writer is lib/report/html.cpp.

class Unpacker {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    this.at = 0;
  }
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  difference(from) {
    const n = this.number();
    return n % 2 === 0 ? from + n / 2 : from - (n + 1) / 2;
  }
}

const layerColumns = ['number', 'operators', 'kind', 'rule', 'cut', 'begin', 'end', 'cycles', 'macs', 'executed', 'read',
  'write', 'weights', 'utilization', 'bound', 'busy'];

function unpackLayers(rows) {
  return rows.map((row, index) => {
    const layer = { index };
    layerColumns.forEach((name, i) => { layer[name] = row[i]; });
    layer.mainBound = mainBound(layer.bound);
    return layer;
  });
}

// The kind with most cycles, -1 when there are none.
function mainBound(cycles) {
  const most = Math.max(...cycles);
  return most === 0 ? -1 : cycles.indexOf(most);
}

function unpackLanes(region) {
  const u = new Unpacker(region.bars);
  const lanes = [];
  for (let tile = 0; tile < region.tiles; ++tile) {
    for (let queue = 0; queue < data.queues.length; ++queue) lanes.push(unpackLane(u, tile, queue));
  }
  return lanes;
}

function unpackLane(u, tile, queue) {
  const bars = [];
  let start = 0, instruction = 0, layer = 0;
  for (let n = u.number(); n > 0; --n) {
    start += u.number();
    const begin = start + u.number(), moved = begin + u.number(), end = moved + u.number();
    const bar = { tile, queue, start, begin, moved, end, wait: u.number(), bytes: u.number(), count: u.number(), bound: u.number() };
    instruction = u.difference(instruction);
    layer = u.difference(layer);
    bars.push(Object.assign(bar, { instruction, layer }));
  }
  return { tile, queue, bars };
}

function unpackPath(region) {
  const u = new Unpacker(region.path);
  const path = [];
  let end = 0, layer = 0;
  for (let n = u.number(); n > 0; --n) {
    const start = u.difference(end);
    end = start + u.number();
    const bound = u.number();
    layer = u.difference(layer);
    path.push({ start, begin: start, moved: end, end, bound, layer });
  }
  return path;
}

function unpackMemory(region) {
  const u = new Unpacker(region.memory);
  const uses = [];
  let start = 0;
  for (let n = u.number(); n > 0; --n) {
    const use = { name: region.memory_names[u.number()], kind: u.number(), tiles: u.number(), begin: u.number() };
    use.end = use.begin + u.number();
    use.layer = u.number();
    const length = u.number();
    use.start = start = u.difference(start);
    use.stop = start + length;
    uses.push(use);
  }
  return uses;
}

const data = JSON.parse(byId('data').textContent);

// Unpacked when it is first looked at.
function unpackRegion(region) {
  if (region.lanes) return region;
  region.cycles = region.init_cycles + region.main_cycles + region.finish_cycles;
  region.layers = unpackLayers(region.layers);
  region.lanes = unpackLanes(region);
  region.path = unpackPath(region);
  region.memory = unpackMemory(region);
  return region;
}

// "main:17": the section and index of `mrvlc map --instruction`.
function instructionName(region, bar) {
  const mainEnd = region.init_cycles + region.main_cycles;
  const section = bar.end <= region.init_cycles && region.init_cycles > 0 ? 'init' : bar.start < mainEnd ? 'main' : 'finish';
  return `${region.id}:${section}:${bar.instruction}`;
}
