import {age, byId, cell, element, rows, time} from './dom.js';
import {kindOf} from './filter.js';
import {openNode} from './nodes.js';

const STATUS = {closed: 'good', open: 'bad', 'half-open': 'warn', unknown: 'unknown'};

// No known fault is good news only where an aggregator acts and has nodes.
function wellness(fleet) {
  if (!Object.values(fleet.states).some(count => count > 0)) return element('span', {class: 'unknown'}, 'no node is known');
  if (!fleet.leader) return element('span', {class: 'unknown'}, 'nothing is known to be wrong, but no aggregator acts');
  return element('span', {class: 'good'}, 'all nodes are as they should be');
}

export function showAround(fleet) {
  const bad = ['faulty', 'silent', 'quarantined'].filter(state => fleet.states[state] > 0);
  byId('summary').replaceChildren(...(bad.length
    ? bad.flatMap((state, i) => [i ? ', ' : '', element('span', {class: kindOf(state)}, `${fleet.states[state]} ${state}`)])
    : [wellness(fleet)]));
  byId('leader').textContent = (fleet.modes ? fleet.modes + ' · ' : '') + (fleet.leader ? `${fleet.leader} acts` : 'no aggregator acts');
  byId('notes').replaceChildren(...fleet.notes.map(note => element('li', {}, note)));
  rows(byId('breaker').tBodies[0], fleet.breaker.pools.map(pool => element('tr', {'data-key': pool.name},
    cell(pool.name), cell(pool.status, STATUS[pool.status] ?? 'unknown'), cell(pool.nodes ?? '–', 'number'), cell(pool.outOfService ?? '–', 'number'),
    cell(pool.since && pool.status !== 'closed' ? age(pool.since) : ''), cell(pool.reason))));
  byId('decisions-note').textContent = fleet.leader === fleet.replica ? ''
    : !fleet.leader ? 'Decided by this replica before. No aggregator leads now. The audit log has all.'
    : 'Decided by this replica before; since another one leads, that one has the later decisions. The audit log has all.';
  rows(byId('decisions').tBodies[0], fleet.decisions.length ? fleet.decisions.map(decision => element('tr', {'data-key': decision.at + decision.node},
    cell(time(decision.at)),
    element('td', {}, element('button', {class: 'open', type: 'button', onclick: () => openNode(decision.node)}, decision.node)),
    cell(decision.decision + (decision.mode === 'dry_run' ? ' (dry run)' : '')), cell(decision.reason), evidence(decision)))
    : [element('tr', {}, element('td', {colspan: 5, class: 'quiet'}, 'none yet'))]);
}

function evidence(decision) {
  const parts = [...(decision.faults ?? []), ...(decision.pods ?? []), ...(decision.rules?.length ? ['rules ' + decision.rules.join(', ')] : []), ...(decision.unanswered ?? []),
    ...(decision.resources ?? []), ...(decision.createdBy ? ['created by ' + decision.createdBy] : []),
    ...(decision.steps ?? []).map(step => `${step.stage}: ${step.state.replace('-', ' ')}` + (step.seconds === undefined ? '' : `, ${step.seconds} s`)),
    ...(decision.breaker ? [decision.breaker] : []), ...(decision.resourceVersion ? ['Node version ' + decision.resourceVersion] : [])];
  return element('td', {}, element('details', {}, element('summary', {}, parts[0]), element('ul', {}, ...parts.map(part => element('li', {}, part)))));
}
