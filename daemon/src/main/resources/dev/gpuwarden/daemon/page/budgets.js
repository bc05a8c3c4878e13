import {age, byId, bytes, cell, element, isAbsent, rows, shown} from './dom.js';

// Tenants are stacked from below; the lines are levels of use: all budgets together, where the floor is reached, and the card.
export function budgetLines(gpu, count, css) {
  if (!gpu || isAbsent(gpu.memory)) return [];
  const usable = gpu.memory.totalBytes - gpu.memory.reservedBytes;
  const promised = isAbsent(gpu.tenants) ? 0 : gpu.tenants.reduce((sum, tenant) => sum + (isAbsent(tenant.budgetBytes) ? 0 : tenant.budgetBytes), 0);
  const levels = [['all budgets', promised, '--quiet', [2, 3]], ['card', usable, '--text', []]];
  if (gpu.floorBytes !== undefined) levels.push(['floor', usable - gpu.floorBytes, '--bad', [6, 4]]);
  return levels.filter(([, level]) => level > 0).map(([label, level, colour, borderDash]) => ({
    label, data: Array(count).fill(level), stack: label, borderColor: css(colour), backgroundColor: 'transparent', borderDash, fill: false,
  }));
}

export function showBudgets(gpu) {
  byId('vram').hidden = !gpu;
  if (!gpu) return;
  const free = isAbsent(gpu.memory) ? 'free memory is unknown' : `${bytes(gpu.memory.freeBytes)} free`;
  const floor = gpu.floorBytes === undefined ? '' : `, floor ${bytes(gpu.floorBytes)}, budgets promise ${bytes(gpu.promisedBytes)} more`;
  byId('vram-decision').textContent = `${free}${floor}. Last decision: ${gpu.verdict.replaceAll('_', ' ')} (${gpu.lastGoodAt ? age(gpu.lastGoodAt) + ' ago' : 'none had a basis'}): ${gpu.reason}`;
  byId('vram-decision').className = gpu.verdict === 'blind' ? 'unknown' : gpu.pressure?.length ? 'warn' : '';
  const forecast = byId('vram-forecast');
  forecast.textContent = forecastText(gpu.secondsToFloor);
  forecast.className = isAbsent(gpu.secondsToFloor) ? 'quiet' : 'warn';
  rows(byId('budgets').tBodies[0], tenants(gpu));
}

function forecastText(seconds) {
  if (isAbsent(seconds)) return `No forecast of the floor: ${seconds.detail}.`;
  if (seconds === 0) return 'The floor is reached.';
  const left = seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  return `At the pace of the last 10 minutes the floor is reached in ${left}.`;
}

function tenants(gpu) {
  if (isAbsent(gpu.tenants)) return [element('tr', {}, element('td', {colspan: 5, class: 'unknown'}, `tenants are unknown: ${gpu.tenants.detail || gpu.tenants.absent}`))];
  const made = gpu.tenants.map(tenant => {
    const over = !isAbsent(tenant.overBytes) && tenant.overBytes > 0;
    return element('tr', {},
      element('th', {scope: 'row'}, tenant.name),
      cell(shown(tenant.usedBytes, bytes), 'number'),
      cell(shown(tenant.budgetBytes, bytes), 'number'),
      cell(over ? bytes(tenant.overBytes) : '', over ? 'number warn' : 'number'),
      cell(note(gpu, tenant, over)));
  });
  if (gpu.tenantsLeftOut) made.push(element('tr', {}, element('td', {colspan: 5, class: 'quiet'}, `${gpu.tenantsLeftOut} smaller ones`)));
  return made.length ? made : [element('tr', {}, element('td', {colspan: 5, class: 'quiet'}, 'no tenant'))];
}

function note(gpu, tenant, over) {
  if (tenant.leaving) return 'ending';
  if (gpu.starved?.includes(tenant.workload)) return 'cannot allocate';
  if (isAbsent(tenant.budgetBytes)) return tenant.budgetBytes.detail ?? '';
  return over ? tenant.spared ?? '' : '';
}
