import {about} from './about.js';
import {age, because, byId, bytes, cell, element, isAbsent, kindOf, rows, shown} from './dom.js';
import {openEvent} from './events.js';

const VERDICTS = {fit: 'fit for work', not_fit: 'not fit for work', undecided: 'could not decide'};

export function showHead(node) {
  byId('node').textContent = node.node;
  document.title = 'gpuwarden ' + node.node;
  const verdict = byId('verdict');
  const text = VERDICTS[node.verdict] ?? node.verdict;
  if (verdict.textContent !== text) verdict.textContent = text;
  verdict.className = 'verdict ' + kindOf(node.verdict);
  const notStored = node.notStored ? `Events are not stored: ${node.notStored}. They are lost if the daemon ends.` : '';
  if (byId('not-stored').textContent !== notStored) byId('not-stored').textContent = notStored;
  const driver = node.driver;
  byId('driver').textContent = driver.state === 'running' ? 'driver ' + shown(driver.driverVersion, v => v) : 'driver ' + driver.state + ' ' + (driver.detail ?? '');
}

export function showGpus(node) {
  rows(byId('gpus').tBodies[0], node.gpus.map(gpu => {
    const r = gpu.readings;
    const trouble = node.faults.filter(fault => concerns(fault, gpu)).map(fault => fault.check + ' ' + fault.codes.join(', '));
    return element('tr', {},
      element('th', {scope: 'row'}, gpu.index),
      cell(shown(gpu.name, v => v)),
      cell(gpu.state.replaceAll('_', ' '), kindOf(gpu.state)),
      cell(shown(r.temperature_celsius, v => v + ' °C'), 'number'),
      cell(shown(r.power_usage_watts, v => Math.round(v) + ' W'), 'number'),
      cell(shown(r.utilization_ratio, v => Math.round(v * 100) + ' %'), 'number'),
      element('td', {}, memoryBar(r)),
      cell([...new Set(trouble)].join('; ') || 'none', trouble.length ? 'bad' : 'quiet'));
  }));
}

function concerns(fault, gpu) {
  return fault.entities.some(entity => entity.value === gpu.uuid || (entity.type === 'PCI' && !isAbsent(gpu.pci) && gpu.pci.startsWith(entity.value)));
}

function memoryBar(readings) {
  const used = readings.memory_used_bytes, total = readings.memory_total_bytes;
  if (isAbsent(used) || isAbsent(total) || !total) return element('span', {class: 'quiet'}, because(used) || because(total));
  const fill = element('i');
  fill.style.width = `${(100 * used / total).toFixed(1)}%`;
  return element('div', {class: 'bar'}, fill,
    element('span', {}, `${bytes(used)} of ${bytes(total)}`));
}

export function showFaults(node) {
  const list = byId('fault-list');
  const made = node.faults.map(fault => element('article', {class: fault.fatal ? 'fault' : 'fault mild', 'data-key': fault.event},
    element('h3', {}, `${fault.check} ${fault.codes.join(', ')}: ${about(fault.entities, node.gpus)}`),
    element('p', {}, fault.message),
    ...(fault.damping ? [element('p', {class: 'quiet'}, fault.damping.text)] : []),
    element('p', {}, element('strong', {}, 'Do: '), fault.advice || 'nothing; the fault is for information'),
    element('p', {class: 'quiet'}, `for ${age(fault.since)}, reported ${fault.occurrences} ${fault.occurrences === 1 ? 'time' : 'times'}, last ${age(fault.lastSeen)} ago `,
      element('button', {class: 'open', type: 'button', onclick: () => openEvent(fault.event)}, 'details, and what was recorded around it'))));
  if (node.leftOut) made.push(element('p', {class: 'bad'}, `${node.leftOut} more faults are not shown, none of them worse or newer: gpuwarden status has all.`));
  rows(list, made.length ? made : [element('p', {class: 'good'}, 'No current faults.')]);
}

const ORDER = ['fail', 'unknown', 'warn', 'pass', 'skipped'];

export function showChecks(node) {
  const sorted = [...node.checks].sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome) || a.check.localeCompare(b.check));
  rows(byId('checks').tBodies[0], sorted.map(check => {
    const telling = check.findings.filter(finding => finding.outcome === check.outcome && finding.outcome !== 'pass').map(finding => finding.message);
    const failing = (node.damping ?? []).filter(part => part.check === check.check && part.phase === 'failing');
    for (const part of failing) telling.push(`${part.subject} is no fault yet: ${part.text}`);
    return element('tr', {},
      element('th', {scope: 'row', title: check.summary}, check.check),
      cell(check.outcome.toUpperCase(), kindOf(check.outcome)),
      cell([...new Set(telling)].join('; ') || (check.outcome === 'skipped' ? 'skipped: this node has nothing to check' : check.summary)),
      cell(age(check.at), 'number'));
  }));
}
