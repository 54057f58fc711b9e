// The page of `mrvlc batch`: how many models came to what, failures by code, a table of all.

const data = JSON.parse(byId('data').textContent);
const models = data.models.map((m) => {
  const errors = m.messages.filter((x) => x.severity === 'error'), warnings = m.messages.filter((x) => x.severity === 'warning');
  const said = errors[0] ?? warnings[0];
  const node = said === undefined || said.node === '' ? '' : `node '${said.node}'${said.op_type === '' ? '' : ` (${said.op_type})`}: `;
  return { ...m, code: m.exit_code === 0 ? '' : errors[0]?.code ?? 'no code', warnings: warnings.length,
    said: said === undefined ? '' : `${said.code} ${node}${said.message}` };
});

// Those that failed, by the code that ended them, the most frequent first.
function failuresByCode() {
  const codes = new Map();
  for (const m of models) if (m.exit_code !== 0) codes.set(m.code, [...(codes.get(m.code) ?? []), m]);
  return [...codes].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
}

function showFailures(filter) {
  const codes = failuresByCode();
  byId('failures').hidden = codes.length === 0;
  byId('codes').replaceChildren(...codes.map(([code, list]) => el('li', null,
    el('button', { type: 'button', title: 'show these models', onclick: () => filter(code) }, `${code} (${integer(list.length)})`),
    ` ${list[0].said.replace(`${code} `, '')} `,
    el('span', { class: 'note' }, code.startsWith('MRV') ? `“mrvlc explain ${code}” says more.` : 'See its log.'))));
}

function showSummary() {
  const of = (name) => models.filter((m) => typeof m.totals[name] === 'number').map((m) => m.totals[name]);
  const shares = of('mac_share_accelerator'), warned = models.filter((m) => m.exit_code === 0 && m.warnings > 0).length;
  byId('subtitle').textContent = `${integer(models.length)} models`;
  byId('summary').replaceChildren(
    card('Compiled', integer(data.compiled), `of ${integer(models.length)}; ${integer(warned)} with warnings`),
    card('Failed', integer(data.failed), `${integer(failuresByCode().length)} different codes`),
    card('On the accelerator', integer(shares.filter((s) => s === 1).length), 'models with all their multiplications there'),
    card('Multiplications there', shares.length === 0 ? '–' : percent(shares.reduce((a, b) => a + b, 0) / shares.length), 'of a model, on average'));
}

function showModels() {
  const number = (title, name, show, hint) => ({ title, number: true, hint, value: (m) => m.totals[name] ?? -1,
    show: (m) => (typeof m.totals[name] === 'number' ? show(m.totals[name]) : '') });
  const link = (m) => (m.out === undefined ? m.name
    : el('a', { href: `${m.out.split('/').map(encodeURIComponent).join('/')}/report.html` }, m.name));
  const table = new SortedTable(byId('models-table'), [
    { title: 'model', value: (m) => m.name, show: link },
    { title: 'result', value: (m) => (m.exit_code === 0 ? 'compiled' : m.code), hint: 'the code that ended it',
      show: (m) => el('span', { class: m.exit_code === 0 ? 'done' : 'failed' }, m.exit_code === 0 ? 'compiled' : m.code) },
    number('cycles', 'cycles', integer, 'of all regions'),
    number('lower bound', 'lower_bound_cycles', integer, 'no schedule takes less'),
    number('a run', 'seconds', duration, 'expected time, of accelerator and host'),
    number('MACs there', 'mac_share_accelerator', percent, 'share of the multiplications on the accelerator'),
    number('regions', 'regions', integer),
    number('CPU nodes', 'nodes_cpu', integer),
    number('weights', 'weights_bytes', bytes),
    number('arena', 'arena_bytes', bytes),
    number('error', 'expected_error', (e) => e.toPrecision(2), 'expected, of the outputs'),
    { title: 'warnings', number: true, value: (m) => m.warnings, show: (m) => (m.warnings ? integer(m.warnings) : '') },
    { title: 'message', wide: true, value: (m) => m.said },
    { title: 'file', value: (m) => m.model },
  ], models, 0);
  table.sort(0);
  if (table.descending) table.sort(0);
  const input = el('input', { type: 'search', oninput: () => table.setFilter(input.value) });
  byId('models-tools').replaceChildren(el('label', { class: 'choice' }, 'filter', input));
  return (text) => {
    input.value = text;
    table.setFilter(text);
  };
}

showSummary();
showFailures(showModels());
