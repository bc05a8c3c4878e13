// Small words for making elements. Text from events goes in as text only, never as markup.

export const byId = id => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'class') made.className = value;
    else if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== undefined && child !== null).map(child => child instanceof Node ? child : String(child)));
  return made;
}

// Replaces rows one by one and only where their text differs, so that focus and reading position survive a refresh: what has
// the focus stays as it is while it stands for the same thing.
export function rows(body, made) {
  label(body, made);
  made.forEach((row, i) => {
    const old = body.children[i];
    if (!old) body.append(row);
    else if (old.outerHTML !== row.outerHTML && !(old.contains(document.activeElement) && old.dataset.key === row.dataset.key)) old.replaceWith(row);
  });
  while (body.children.length > made.length) body.lastElementChild.remove();
}

// Copies the heading of its column to each cell: a narrow screen shows it beside the cell (style.css).
function label(body, made) {
  const heads = body.closest('table')?.tHead?.rows[0]?.cells;
  if (!heads) return;
  for (const row of made) {
    [...row.children].forEach((cell, i) => { if (heads[i] && cell.colSpan === 1) cell.dataset.label = heads[i].textContent; });
  }
}

export const cell = (text, kind) => element('td', kind ? {class: kind} : {}, text);

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export function bytes(count) {
  let size = 0;
  while (count >= 1024 && size < SIZES.length - 1) { count /= 1024; size++; }
  return (size > 1 ? count.toFixed(1) : Math.round(count)) + ' ' + SIZES[size];
}

export const isAbsent = value => value !== null && typeof value === 'object' && 'absent' in value;
export const shown = (value, text) => isAbsent(value) || value === undefined ? '–' : text(value);
export const because = value => isAbsent(value) ? value.absent.replaceAll('_', ' ') : '';

export function age(then, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - Date.parse(then)) / 1000));
  if (seconds < 120) return seconds + ' s';
  if (seconds < 7200) return Math.round(seconds / 60) + ' min';
  return seconds < 172800 ? Math.round(seconds / 3600) + ' h' : Math.round(seconds / 86400) + ' d';
}

export const time = text => new Date(text).toLocaleString(undefined, {dateStyle: 'short', timeStyle: 'medium'});

const KINDS = {pass: 'good', fit: 'good', answering: 'good', warn: 'warn', starting: 'warn', fail: 'bad', not_fit: 'bad', unknown: 'unknown', undecided: 'unknown', skipped: 'quiet'};
export const kindOf = word => KINDS[word] ?? 'bad';
