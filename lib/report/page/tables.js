// Tables that sort, and the bars of shares in them. Long tables show their first rows until asked for more.

const kFirstRows = 300;

// Share of each kind of bound as one bar; the text says the same.
function boundBar(cycles) {
  const total = cycles.reduce((a, b) => a + b, 0);
  const parts = cycles.map((n, i) => ({ share: total ? n / total : 0, i })).filter((p) => p.share > 0);
  const text = parts.map((p) => `${data.bounds[p.i]} ${percent(p.share)}`).join(', ') || 'hidden behind others';
  const bar = el('span', { class: 'shares', role: 'img', 'aria-label': text, title: text });
  for (const p of parts) {
    const part = el('span', { class: `bound-${p.i}` });
    part.style.width = `${100 * p.share}%`;
    bar.append(part);
  }
  return bar;
}

function legend(names, prefix) {
  return el('span', { class: 'legend' }, ...names.map((name, i) => el('span', null, el('i', { class: `${prefix}-${i}` }), name)));
}

// columns: {title, value(row), show(row)?, number?, hint?}; `onrow` makes rows clickable.
class SortedTable {
  constructor(box, columns, rows, sortBy, onrow) {
    Object.assign(this, { box, columns, rows, onrow, column: sortBy, descending: true, shown: kFirstRows, filter: '' });
    this.body = el('tbody');
    this.more = el('p', { class: 'more' });
    this.heads = columns.map((c, i) => el('th', { scope: 'col', class: c.number ? 'number' : '', title: c.hint },
      el('button', { type: 'button', onclick: () => this.sort(i) }, c.title)));
    box.replaceChildren(el('table', null, el('thead', null, el('tr', null, ...this.heads)), this.body), this.more);
    this.render();
  }
  sort(column) {
    this.descending = column === this.column ? !this.descending : Boolean(this.columns[column].number);
    this.column = column;
    this.render();
  }
  setFilter(text) {
    this.filter = text.toLowerCase();
    this.shown = kFirstRows;
    this.render();
  }
  visible() {
    const { value } = this.columns[this.column], sign = this.descending ? -1 : 1;
    const keep = this.rows.filter((row) => !this.filter ||
      this.columns.some((c) => !c.number && String(c.value(row)).toLowerCase().includes(this.filter)));
    return keep.map((row, i) => [value(row), i, row]).sort((a, b) => {
      const order = typeof a[0] === 'number' ? a[0] - b[0] : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
      return sign * order || a[1] - b[1];
    }).map((entry) => entry[2]);
  }
  render() {
    this.heads.forEach((head, i) => head.setAttribute('aria-sort',
      i !== this.column ? 'none' : this.descending ? 'descending' : 'ascending'));
    const rows = this.visible();
    this.body.replaceChildren(...rows.slice(0, this.shown).map((row) => this.line(row)));
    const left = rows.length - this.shown;
    this.more.replaceChildren(...(left > 0 ? [`${integer(this.shown)} of ${integer(rows.length)} rows. `,
      el('button', { type: 'button', onclick: () => { this.shown *= 4; this.render(); } }, 'Show more')] : []));
  }
  line(row) {
    const line = el('tr', null, ...this.columns.map((c) => el('td', {
      class: c.number ? 'number' : c.wide ? 'wide' : undefined,
      title: c.number || c.wide || c.show ? undefined : String(c.value(row)),
    }, c.show ? c.show(row) : String(c.value(row)))));
    if (this.onrow) line.addEventListener('click', () => this.onrow(row));
    return line;
  }
}

function layerTable(box, region, onrow) {
  const total = Math.max(region.cycles, 1);
  const number = (title, field, hint) => ({ title, number: true, hint, value: (l) => l[field], show: (l) => integer(l[field]) });
  const volume = (title, field, hint) => ({ title, number: true, hint, value: (l) => l[field], show: (l) => bytes(l[field]) });
  return new SortedTable(box, [
    { title: '#', number: true, value: (l) => l.number },
    { title: 'ONNX operators', wide: true, value: (l) => l.operators,
      show: (l) => el('button', { type: 'button', class: 'link', title: 'show in the timeline' }, l.operators || `layer ${l.number}`) },
    { title: 'kind', value: (l) => l.kind },
    { title: 'cut', value: (l) => l.cut, hint: 'over tiles' },
    number('cycles', 'cycles', 'of the critical path; the column adds up to the time of the region'),
    { title: '%', number: true, value: (l) => l.cycles, show: (l) => (100 * l.cycles / total).toFixed(2) },
    { title: 'bound by', value: (l) => l.mainBound < 0 ? '' : data.bounds[l.mainBound], hint: 'what most of its cycles are spent on' },
    { title: 'shares', value: (l) => Math.max(...l.bound), show: (l) => boundBar(l.bound), hint: 'cycles by what bounds them' },
    { title: 'MAC %', number: true, value: (l) => l.utilization, show: (l) => (100 * l.utilization).toFixed(1),
      hint: 'of what the matrix units of all tiles could do in its cycles; over 100: it worked while others were charged' },
    { title: 'MACs', number: true, value: (l) => l.macs, show: (l) => count(l.macs), hint: 'of its operators' },
    { title: 'executed', number: true, value: (l) => l.executed, show: (l) => count(l.executed),
      hint: 'multiply-accumulates that instructions make: fewer where nobody reads a result, more where tiles make the same rows' },
    volume('DDR read', 'read'), volume('DDR write', 'write'), volume('weights', 'weights'),
  ], region.layers, 4, onrow);
}

function placementView() {
  const parts = [el('p', null, `${integer(data.onnx_nodes)} ONNX nodes: ${integer(data.on_accelerator)} on the accelerator, ` +
    `${integer(data.on_cpu)} on the CPU, ${integer(data.folded)} folded at compile time. ` +
    `${percent(data.mac_share_accelerator)} of the multiplications run on the accelerator.`), stepsView()];
  if (data.regions.length > 1) parts.push(regionTable());
  if (data.expected.length > 0) parts.push(el('h3', null, 'Expected time'), scrollBox('Expected time', 'pre', data.expected.join('\n')));
  if (data.fallbacks.length === 0) return parts.concat(el('p', { class: 'good' }, 'No node falls back to the CPU.'));
  parts.push(el('h3', null, 'On the CPU, and why'));
  if (data.fallbacks_left_out > 0) {
    parts.push(el('p', { class: 'notice' }, `${integer(data.fallbacks_left_out)} more are not listed here: placement.json has all, ` +
      'and “mrvlc explain” tells every rule tried.'));
  }
  parts.push(...frequentReasons());
  const box = scrollBox('Nodes on the CPU');
  const column = (title, i, wide) => ({ title, wide, value: (row) => row[i] });
  const order = new Map(data.fallbacks.map((row, i) => [row, i]));
  const table = new SortedTable(box, [column('node', 1, true), column('operator', 2), column('reason', 3, true),
    { title: 'id', value: (row) => order.get(row), show: (row) => row[0] }], data.fallbacks, 3);
  table.sort(3);
  return parts.concat(box);
}

// Reasons that many nodes share, when the list is complete.
function frequentReasons() {
  const nodes = new Map();
  for (const row of data.fallbacks) nodes.set(row[3], (nodes.get(row[3]) ?? 0) + 1);
  const shared = [...nodes].filter(([, n]) => n > 1).sort((a, b) => b[1] - a[1]).slice(0, 5);
  if (data.fallbacks_left_out > 0 || shared.length === 0) return [];
  return [el('ul', { class: 'reasons' }, ...shared.map(([reason, n]) => el('li', null, el('b', null, `${integer(n)} nodes: `), reason)))];
}

function stepsView() {
  const kMost = 60;
  const list = el('ol', { class: 'steps', 'aria-label': 'Order of work' });
  for (const step of data.steps.slice(0, kMost)) {
    if (step.region === undefined) {
      list.append(el('li', { class: 'cpu' }, `CPU: ${integer(step.nodes)} ${step.nodes === 1 ? 'node' : 'nodes'}`));
      continue;
    }
    const region = data.regions[step.region];
    list.append(el('li', null, `region ${region.id}: ${integer(region.layers.length)} ${region.layers.length === 1 ? 'layer' : 'layers'}`));
  }
  if (data.steps.length > kMost) list.append(el('li', { class: 'cpu' }, `${integer(data.steps.length - kMost)} more steps`));
  return list;
}

function regionTable() {
  const box = scrollBox('Regions');
  const cycles = (r) => r.init_cycles + r.main_cycles + r.finish_cycles;
  const number = (title, value, show) => ({ title, number: true, value, show: (r) => (show ?? integer)(value(r)) });
  new SortedTable(box, [
    number('region', (r) => r.id), number('layers', (r) => r.layers.length), number('cycles', cycles),
    number('conservative', (r) => r.pessimistic_cycles), number('lower bound', (r) => r.lower_bound_cycles),
    number('over bound', (r) => r.lower_bound_cycles ? cycles(r) / r.lower_bound_cycles : 0, (n) => n.toFixed(2)),
    number('matrix units used', (r) => r.pod_utilization, percent), number('busy', (r) => r.pod_busy, percent), number('DDR read', (r) => r.ddr_read_bytes, bytes),
    number('DDR written', (r) => r.ddr_write_bytes, bytes), number('weights', (r) => r.weights_bytes, bytes),
    number('OCM peak a tile', (r) => r.ocm_peak_bytes, bytes),
  ], data.regions, 2, (r) => showRegion(data.regions.indexOf(r)));
  return box;
}
