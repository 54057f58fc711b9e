// Numbers and elements as people read them. Text of the model only ever enters the page as text nodes.

const groups = new Intl.NumberFormat('en-US');
const integer = (n) => groups.format(Math.round(n)).replaceAll(',', '\u202f');

function bytes(n) {
  if (n < 1024) return `${n} B`;
  for (const unit of ['KiB', 'MiB', 'GiB', 'TiB']) {
    n /= 1024;
    if (n < 1024 || unit === 'TiB') return `${n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0)} ${unit}`;
  }
}

function count(n) {
  if (n < 10000) return integer(n);
  for (const unit of ['k', 'M', 'G', 'T']) {
    n /= 1000;
    if (n < 1000 || unit === 'T') return `${n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0)} ${unit}`;
  }
}

function duration(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(2)} ms` : `${(seconds * 1e6).toFixed(1)} µs`;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const address = (n) => `0x${n.toString(16)}`;

// el('td', {class: 'number', onclick: f}, 'text', child, ...)
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

function card(title, value, note) {
  return el('div', { class: 'card' }, el('h2', null, title), el('p', { class: 'value' }, value), el('p', { class: 'note' }, note ?? ''));
}

// A box that scrolls, by keys too.
const scrollBox = (label, tag = 'div', ...children) => el(tag, { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, ...children);

const byId = (id) => document.getElementById(id);

function choice(label, options, value, onchange) {
  const select = el('select', { onchange: () => onchange(select.value) },
    ...options.map(([key, text]) => el('option', { value: key, selected: key === value }, text)));
  return el('label', { class: 'choice' }, label, select);
}
