import {age, byId, cell, element, rows, time} from './dom.js';
import {address, chosen, kindOf, parameters} from './filter.js';
import {isOpen, picture} from './pipeline.js';

const PAGE = 200;
let most = PAGE, current = () => new Map(), shownNode = '';

export function beginNodes(nodes, show) {
  current = nodes;
  byId('more').addEventListener('click', () => { most += PAGE; show(); });
  byId('node').addEventListener('close', () => { shownNode = ''; address(now => now.delete('node')); });
}

export function showNodes(nodes) {
  const all = chosen(nodes), some = all.slice(0, most);
  byId('shown').textContent = all.length === nodes.size ? `${nodes.size} nodes`
    : `${all.length} of ${nodes.size} nodes` + (some.length < all.length ? `, the first ${some.length} are listed` : '');
  byId('more').hidden = some.length === all.length;
  rows(byId('nodes').tBodies[0], some.length ? some.map(row)
    : [element('tr', {}, element('td', {colspan: 6, class: 'quiet'}, nodes.size ? 'no node fits what is chosen above' : 'no nodes'))]);
}

const since = text => text ? element('span', {title: time(text)}, age(text)) : '';

// Each part with a fatal fault once, with its one instruction.
function worst(node) {
  const more = [node.moreFatalParts ? `+${node.moreFatalParts} more with fatal faults` : '', node.moreFaults ? `+${node.moreFaults} more faults` : ''];
  return [
    ...node.worst.map(line => element('div', {title: line.advice}, line.text + (line.fatal ? `: ${line.action}` : ''))),
    ...more.filter(text => text).map(text => element('div', {class: 'quiet'}, text)),
  ];
}

function row(node) {
  return element('tr', {'data-key': node.name},
    element('td', {}, element('button', {class: 'open', type: 'button', onclick: () => openNode(node.name)}, node.name)),
    cell(node.state + (node.unschedulable && node.state === 'faulty' ? ', cordoned' : ''), kindOf(node.state)),
    element('td', {}, since(node.since)), element('td', {}, ...worst(node)), cell(node.why), cell(node.next));
}

export function openNode(name) {
  address(now => now.set('node', name));
  showOpenNode(current());
}

// Also when it changes while it is open.
export function showOpenNode(nodes) {
  const name = parameters().get('node'), dialog = byId('node');
  if (!name) return;
  const node = nodes.get(name);
  // An open stage grows without a change of the node.
  const text = JSON.stringify(node ?? null) + (isOpen(node?.pipeline) ? Math.floor(Date.now() / 30000) : '');
  if (!dialog.open) dialog.showModal();
  if (shownNode === name + text) return;
  shownNode = name + text;
  byId('node-title').textContent = name;
  byId('node-body').replaceChildren(...(node ? details(node) : ['There is no such node now.']));
}

function list(facts) {
  const made = element('dl');
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined && value !== null && value !== '') made.append(element('dt', {}, name), element('dd', {}, value));
  }
  return made;
}

const when = text => text ? `${time(text)} (${age(text)} ago)` : '';

function named(shown) {
  const names = shown.entities.map(entity => `${entity.type} ${entity.value}`).join(', ');
  return names === shown.subject ? '' : names;
}

function details(node) {
  return [
    list({State: node.state, Since: when(node.since), Pools: node.pools.join(', '), Why: node.why, 'Rule sets': (node.rules ?? []).join(', '), Next: node.next}),
    ...picture(node.pipeline),
    ...history(node),
    ...node.faults.map(shown => element('div', {class: shown.fatal ? 'fault' : 'fault mild'},
      element('h3', {}, [shown.check, ...shown.codes].join(' ')),
      element('p', {}, shown.message),
      list({About: shown.subject, 'Name in the event': named(shown), Do: shown.advice, 'Reported by': shown.agent,
        First: when(shown.since), Last: when(shown.lastSeen), Times: shown.occurrences}))),
  ];
}

// The steps of its repair: each attempt, its result, and the operator for whom it waits.
function repaired(repair) {
  if (!repair) return [];
  const steps = [];
  for (const each of repair.repairs) {
    steps.push([each.at, `${each.kind} ${each.resource} for ${each.for}`]);
    if (each.ended) steps.push([each.ended, `${each.kind} ${each.result}` + (each.why ? ': ' + each.why : '')]);
  }
  if (repair.since) steps.push([repair.since, 'waits for an operator: ' + repair.text]);
  return steps;
}

// The state of its drain: the pods to go, and the pods that block it.
function drained(drain) {
  if (!drain) return [];
  const steps = Object.entries(drain.gpus ?? {}).map(([gpu, since]) => [since, `pods that hold ${gpu} must leave`]);
  if (drain.full) steps.push([drain.full, 'all pods must leave' + (drain.why ? ': ' + drain.why : '')]);
  for (const pod of drain.waiting ?? []) steps.push([pod.since, `${pod.pod || 'the node'} (${pod.step}): ${pod.why}`]);
  if (drain.reopened) steps.push([drain.reopened.at, 'a pod that holds a GPU came: the drain is open again']);
  if (drain.finished) steps.push([drain.finished, 'no pod is left that must leave']);
  return steps;
}

// The history from the fault to now, with the pods of the drain.
function history(node) {
  const steps = node.faults.map(shown => [shown.since, `fault ${[shown.check, ...shown.codes].join(' ')} of ${shown.subject}`]);
  if (node.state === 'quarantined') steps.push([node.since, 'taken out of service']);
  steps.push(...drained(node.drain), ...repaired(node.repair));
  steps.sort((a, b) => String(a[0]).localeCompare(String(b[0])));
  const made = steps.map(([at, text]) => element('li', {}, at ? `${time(at)}: ` : '', text));
  if (node.next) made.push(element('li', {class: 'quiet'}, 'next: ' + node.next));
  return made.length ? [element('h3', {}, 'History'), element('ol', {}, ...made)] : [];
}
