import {byId, element} from './dom.js';

const ORDER = ['faulty', 'silent', 'quarantined', 'cordoned', 'degraded', 'healthy', 'other'];
const KINDS = {faulty: 'bad', silent: 'unknown', quarantined: 'warn', cordoned: 'quiet', degraded: 'warn', healthy: 'good', other: 'quiet'};
const USUAL = ['faulty', 'silent', 'quarantined', 'cordoned', 'degraded'];

export const kindOf = state => KINDS[state] ?? 'quiet';
export const worst = (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.name.localeCompare(b.name, 'en', {numeric: true});

let changed = () => {};

// Filters live in the address: a link shows what its sender saw.
export const parameters = () => new URLSearchParams(location.hash.slice(1));

export function address(change) {
  const now = parameters();
  change(now);
  history.replaceState(null, '', '#' + now);
}

export function beginFilter(show) {
  changed = show;
  byId('find').addEventListener('input', keep);
  byId('pool').addEventListener('input', keep);
  byId('filter').addEventListener('submit', submit => submit.preventDefault());
  addEventListener('hashchange', read);
  read();
}

function read() {
  byId('find').value = parameters().get('find') ?? '';
  changed();
}

function keep() {
  address(now => {
    for (const id of ['find', 'pool']) {
      if (byId(id).value) now.set(id, byId(id).value); else now.delete(id);
    }
  });
  changed();
}

export function states() {
  const wanted = parameters().get('state');
  return new Set(wanted === null ? USUAL : wanted.split(',').filter(Boolean));
}

function toggle(state) {
  const on = states();
  if (!on.delete(state)) on.add(state);
  address(now => now.set('state', ORDER.filter(each => on.has(each)).join(',')));
  changed();
}

export function showStates(fleet) {
  const on = states(), group = byId('states');
  ORDER.forEach((state, i) => {
    const button = group.children[i] ?? group.appendChild(element('button', {type: 'button', class: 'state', onclick: () => toggle(state)}));
    button.setAttribute('aria-pressed', on.has(state));
    button.replaceChildren(element('b', {class: kindOf(state)}, fleet.states[state] ?? 0), ' ' + state);
  });
  const pool = byId('pool'), names = fleet.breaker.pools.map(each => each.name);
  for (const name of names) {
    if (![...pool.options].some(option => option.value === name)) pool.append(element('option', {value: name}, name));
  }
  pool.value = parameters().get('pool') ?? '';
}

export function chosen(nodes) {
  const on = states(), pool = parameters().get('pool') ?? '', find = byId('find').value.toLowerCase();
  return [...nodes.values()].filter(node => on.has(node.state)
    && (pool === '' || node.pools.includes(pool))
    && (find === '' || JSON.stringify(node).toLowerCase().includes(find))).sort(worst);
}
