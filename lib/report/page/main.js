// Puts the page together.

const timeline = new Timeline(), overview = new Overview(), memoryMap = new MemoryMap();

function summary() {
  const sum = (value) => data.regions.reduce((all, r) => all + value(r), 0);
  const cyclesOf = (r) => r.init_cycles + r.main_cycles + r.finish_cycles;
  const cycles = sum(cyclesOf), bound = sum((r) => r.lower_bound_cycles);
  const cards = expectedCards();
  if (data.regions.length > 0) {
    const time = data.clock_ghz > 0 ? `${(cycles / data.clock_ghz / 1e6).toFixed(3)} ms at ${data.clock_ghz} GHz` : '';
    cards.push(card('Cycles', integer(cycles), `${time}; conservative ${integer(sum((r) => r.pessimistic_cycles))}`),
      card('Over the lower bound', bound > 0 ? `× ${(cycles / bound).toFixed(2)}` : '–', `no schedule takes less than ${integer(bound)}`),
      card('Matrix units used', percent(cycles ? sum((r) => r.pod_utilization * cyclesOf(r)) / cycles : 0),
        `${count(sum((r) => r.macs))} MACs in the network, ${count(sum((r) => r.executed_macs))} executed: unused results are skipped, shared rows repeated`),
      card('DDR read', bytes(sum((r) => r.ddr_read_bytes)), `${bytes(sum((r) => r.weights_bytes))} are weights; written ${bytes(sum((r) => r.ddr_write_bytes))}`),
      card('On-chip peak', bytes(Math.max(...data.regions.map((r) => r.ocm_peak_bytes))), `held at once, of ${bytes(data.ocm_bytes)} a tile`),
      card('Borders', bytes(data.conversion_bytes), `cast and permuted by the host, about ${(1e3 * data.conversion_seconds).toFixed(3)} ms`));
  }
  cards.push(card('On the accelerator', integer(data.on_accelerator),
    `of ${integer(data.onnx_nodes)} nodes; ${percent(data.mac_share_accelerator)} of ${count(data.macs)} MACs`),
    card('Host arena', bytes(data.arena_bytes), `lower bound ${bytes(data.arena_lower_bound_bytes)}; weights ${bytes(data.host_weights_bytes)}`),
    card('Expected error', data.expected_error, data.accuracy));
  byId('summary').replaceChildren(...cards);
}

// What a user waits for comes first.
function expectedCards() {
  const e = data.expected_time;
  if (e.seconds === null) return [card('A run', '–', 'not known: a target does not tell its times')];
  const parts = data.regions.length === 0 ? 'all on the host'
    : `device ${duration(e.device)}, launches ${duration(e.launches)}, borders ${duration(e.borders)}, host ${duration(e.host)}; the host alone ${duration(e.host_only)}`;
  return [card('A run takes about', duration(e.seconds), parts)];
}

function boundsView(region) {
  const cycles = data.bounds.map((_, i) => region.layers.reduce((all, l) => all + l.bound[i], 0));
  const total = Math.max(cycles.reduce((a, b) => a + b, 0), 1);
  const bar = boundBar(cycles);
  bar.classList.add('large');
  byId('bounds-bar').replaceChildren(bar, el('ul', { class: 'legend' }, ...data.bounds.map((name, i) =>
    el('li', null, el('i', { class: `bound-${i}` }), `${name} `, el('b', null, percent(cycles[i] / total)), ` ${integer(cycles[i])}`))));
}

function notices(region) {
  const time = [];
  if (region.bars_merged_below > 0) {
    const drawn = region.lanes.reduce((all, lane) => all + lane.bars.length, 0);
    time.push(`${integer(region.instructions)} instructions are drawn as ${integer(drawn)} bars: in each queue those that follow each other ` +
      `within ${integer(region.bars_merged_below)} cycles are merged. “mrvlc profile --trace” has all.`);
  }
  if (region.path_merged_below > 0) time.push(`The strip “bound by” is merged below ${integer(region.path_merged_below)} cycles.`);
  const memory = [];
  if (region.memory.length === 0) memory.push('This region has no record of what holds on-chip memory.');
  if (region.memory_left_out > 0) memory.push(`The ${integer(region.memory_left_out)} smallest ranges are left out.`);
  for (const [id, texts] of [['time-notice', time], ['memory-notice', memory]]) {
    byId(id).textContent = texts.join(' ');
    byId(id).hidden = texts.length === 0;
  }
}

function tools(region) {
  const button = (text, label, action) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: action }, text);
  const tiles = [...Array(region.tiles).keys()].map((t) => [String(t), `tile ${t}`]);
  byId('time-tools').replaceChildren(
    legend(data.bounds, 'bound'),
    choice('colour', [['layer', 'by layer'], ['bound', 'by bound']], timeline.colourBy, (value) => { timeline.colourBy = value; view.changed(); }),
    choice('show', [['all', 'all tiles'], ...tiles], timeline.tiles, (value) => { timeline.tiles = value; timeline.layout(); }),
    el('span', { class: 'group' }, button('−', 'zoom out', () => view.zoom(2)), button('+', 'zoom in', () => view.zoom(0.5)),
      button('fit', 'fit: show everything', () => view.show(0, view.total))));
  byId('memory-tools').replaceChildren(legend(memoryKinds, 'memory'),
    choice('tile', tiles, String(memoryMap.tile), (value) => memoryMap.setTile(Number(value))));
}

// From the table to the timeline.
function goToLayer(region, layer) {
  if (layer.end > layer.begin) {
    const margin = (layer.end - layer.begin) * 0.1;
    view.show(region.init_cycles + layer.begin - margin, region.init_cycles + layer.end + margin);
  }
  view.pinned = layer.index;
  view.changed();
  const quiet = matchMedia('(prefers-reduced-motion: reduce)').matches;
  byId('time').scrollIntoView({ behavior: quiet ? 'auto' : 'smooth' });
}

let layersShown = null, regionShown = -1;

function showRegion(index) {
  const region = unpackRegion(data.regions[index]);
  regionShown = index;
  view.reset(region.cycles);
  timeline.setRegion(region);
  overview.setRegion(region);
  memoryMap.setRegion(region);
  const of = data.regions.length > 1 ? ` of region ${region.id}` : '';
  for (const [id, title] of [['bounds', 'What bounds the time'], ['time', 'Time'], ['layers', 'Layers']]) {
    byId(`${id}-title`).textContent = title + of;
  }
  boundsView(region);
  tools(region);
  notices(region);
  for (const id of ['memory', 'memory-tools']) byId(id).hidden = region.memory.length === 0;
  layersShown = layerTable(byId('layers-table'), region, (layer) => goToLayer(region, layer));
  byId('layers-tools').replaceChildren(el('label', { class: 'choice' }, 'filter',
    el('input', { type: 'search', placeholder: 'name, kind, bound', oninput: (e) => layersShown.setFilter(e.target.value) })));
  byId('regions').replaceChildren(...regionChoice(index));
}

function regionChoice(index) {
  if (data.regions.length < 2) return [];
  return [choice('region', data.regions.map((r, i) => [String(i), `${r.id}: ${integer(r.layers.length)} layers, ` +
    `${integer(r.init_cycles + r.main_cycles + r.finish_cycles)} cycles`]), String(index), (value) => showRegion(Number(value)))];
}

function longestRegion() {
  const cycles = data.regions.map((r) => r.init_cycles + r.main_cycles + r.finish_cycles);
  return cycles.indexOf(Math.max(...cycles));
}

// The program in order, host and regions, as wide as they are expected to take.
function programView() {
  const all = data.steps.reduce((sum, s) => sum + (s.seconds ?? 0), 0);
  if (all === 0) return;
  const part = (s) => {
    const name = s.region === undefined ? `CPU, ${integer(s.nodes)} ${s.nodes === 1 ? 'node' : 'nodes'}` : `region ${data.regions[s.region].id}`;
    const text = `${name}: ${duration(s.seconds)}`;
    const item = el('li', { class: s.region === undefined ? 'cpu' : 'region-step', title: text });
    item.style.flexGrow = String(s.seconds / all);
    item.append(s.region === undefined ? el('span', null, text) : el('button', { type: 'button', onclick: () => showRegion(s.region) }, text));
    return item;
  };
  byId('program').replaceChildren(...data.steps.map(part));
  byId('program').hidden = false;
}

// From the graph to the timeline.
function goToGraphLayer(id, number) {
  const index = data.regions.findIndex((r) => r.id === id);
  if (byId('time').hidden || index < 0) return;
  if (index !== regionShown) showRegion(index);
  const layer = data.regions[index].layers.find((l) => l.number === number);
  if (layer) goToLayer(data.regions[index], layer);
}

function start() {
  document.title = `${data.model}: mrvlc report`;
  byId('model').textContent = data.model;
  byId('subtitle').textContent = data.regions.length === 0 ? `target ${data.target}, ${data.precision}`
    : `target ${data.target}, ${data.tiles} ${data.tiles === 1 ? 'tile' : 'tiles'}, ${data.precision}; model ${data.sha256.slice(0, 12)}`;
  readColours();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); view.changed(); });
  summary();
  byId('placement-body').replaceChildren(...placementView());
  if (data.measured) {
    byId('measured').hidden = false;
    byId('measured-body').replaceChildren(...measuredView(data.measured));
  }
  if (data.regions.length === 0) for (const id of ['bounds', 'time', 'layers']) byId(id).hidden = true;
  else showRegion(longestRegion());
  programView();
  if (data.graphs) {
    byId('graph-section').hidden = false;
    new GraphView(byId('graph'), data.graphs, data.graph_start, data.regions.length === 0 ? undefined : goToGraphLayer);
  }
}

start();
