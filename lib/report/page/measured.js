// Times that were measured, beside what was expected: of `mrvlc profile --html`.

// Of a step's milliseconds those beyond what is expected; undefined where the two are not of the same machine.
const beyond = (step) => step.comparable ? step.least_ms - step.expected_ms : undefined;

function measuredTable(m, box) {
  const total = m.steps.reduce((all, s) => all + s.least_ms, 0);
  const number = (title, value, digits, hint) => ({ title, number: true, hint, value: (s) => value(s) ?? -Infinity,
    show: (s) => value(s) === undefined ? '–' : value(s).toFixed(digits) });
  const order = new Map(m.steps.map((s, i) => [s, i]));
  return new SortedTable(box, [
    { title: '#', number: true, value: (s) => order.get(s), hint: 'in the order of the program' },
    { title: 'where', value: (s) => s.region === null ? 'CPU' : `region ${s.region}` },
    { title: 'ONNX operators', wide: true, value: (s) => s.label },
    number('measured ms', (s) => s.least_ms, 3, 'the least of all runs'),
    number('expected ms', (s) => s.expected_ms ?? undefined, 3, 'by the host model, and of a region by its cycles'),
    number('× expected', (s) => s.comparable && s.expected_ms > 0 ? s.least_ms / s.expected_ms : undefined, 2),
    number('difference ms', beyond, 3, 'what it takes longer than expected'),
    number('% of all', (s) => total > 0 ? 100 * s.least_ms / total : 0, 1),
  ], m.steps, 6);
}

function measuredView(m) {
  const ms = (n) => n === null ? 'not known' : `${n.toFixed(3)} ms`;
  const compared = m.steps.filter((s) => s.comparable);
  const sum = (value) => compared.reduce((all, s) => all + value(s), 0);
  const measured = sum((s) => s.least_ms), expected = sum((s) => s.expected_ms);
  const parts = [el('p', null, `On ${m.on}, ${integer(m.runs)} runs on zeros: an inference takes ${ms(m.least_ms)} at the least, ${ms(m.median_ms)} in the middle; ` +
    `${ms(m.expected_ms)} were expected.`)];
  if (expected > 0) {
    parts.push(el('p', null, `Steps that can be compared take ${ms(measured)}, × ${(measured / expected).toFixed(2)} of what was expected of them (${ms(expected)}).`));
  }
  if (m.regions_simulated) parts.push(el('p', { class: 'notice' }, 'Regions ran on the simulator: their time is the simulator’s, and is not compared.'));
  const worst = m.steps.find((s) => s.expr_id === m.worst);
  if (worst) {
    parts.push(el('p', { class: 'notice' }, `Furthest beyond what was expected: ${worst.label}, ${ms(worst.least_ms)} instead of ${ms(worst.expected_ms)}.`));
  }
  const box = scrollBox('Measured steps');
  measuredTable(m, box);
  return parts.concat(box);
}
