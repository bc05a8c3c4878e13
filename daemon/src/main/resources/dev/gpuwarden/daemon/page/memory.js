import {budgetLines, showBudgets} from './budgets.js';
import {because, byId, bytes, cell, element, isAbsent, rows, shown} from './dom.js';

const COLOURS = ['#3b7dd8', '#d8873b', '#3ba67a', '#b04fc2', '#c94f5b', '#7a8b2e', '#2e8b8b', '#8b6f4e'];
let chart;

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function lineChart(canvas, labels, datasets, tick, stacked) {
  return new Chart(canvas, {
    type: 'line',
    data: {labels, datasets},
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
      interaction: {mode: 'index', intersect: false},
      elements: {point: {radius: 0}, line: {borderWidth: 1.5}},
      scales: {
        x: {ticks: {color: css('--quiet'), maxTicksLimit: 8}, grid: {color: css('--line')}},
        y: {stacked, beginAtZero: true, ticks: {color: css('--quiet'), callback: tick}, grid: {color: css('--line')}},
      },
      plugins: {legend: {labels: {color: css('--text')}}, tooltip: {callbacks: {label: item => `${item.dataset.label}: ${tick(item.raw)}`}}},
    },
  });
}

// The history is a list of moments, oldest first, each with the bytes of every tenant on every GPU.
export function showMemory(node, history) {
  const choice = byId('memory-gpu');
  rows(choice, node.gpus.map(gpu => element('option', {value: gpu.index}, `${gpu.index} ${shown(gpu.name, v => v)}`)));
  const index = Number(choice.value || 0);
  const now = node.memory.find(gpu => gpu.index === index);
  rows(byId('memory').tBodies[0], tenants(now));
  const moments = history.moments;
  const names = [...new Set(moments.flatMap(moment => Object.keys(moment.gpus[index] ?? {})))];
  const labels = moments.map(moment => new Date(moment.time).toLocaleTimeString());
  const datasets = names.map((label, i) => {
    const colour = COLOURS[i % COLOURS.length];
    return {label, data: moments.map(moment => moment.gpus[index]?.[label] ?? 0), borderColor: colour, backgroundColor: colour + '66', fill: i ? '-1' : 'origin'};
  });
  const budgets = (node.budgets ?? []).find(gpu => gpu.index === index);
  datasets.push(...budgetLines(budgets, moments.length, css));
  showBudgets(budgets);
  if (chart) {
    chart.data = {labels, datasets};
    chart.update('none');
  } else {
    chart = lineChart(byId('memory-chart'), labels, datasets, bytes, true);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { chart.destroy(); chart = undefined; });
  }
}

function tenants(gpu) {
  if (!gpu) return [];
  if (isAbsent(gpu.holders)) return [element('tr', {}, element('td', {colspan: 3, class: 'unknown'}, because(gpu.holders)))];
  const made = gpu.holders.map(holder => element('tr', {},
    element('th', {scope: 'row'}, holder.name), cell(shown(holder.usedBytes, bytes), 'number'), cell(holder.processes, 'number')));
  if (!isAbsent(gpu.unattributedBytes) && gpu.unattributedBytes > 0) {
    made.push(element('tr', {}, element('th', {scope: 'row'}, 'unattributed'), cell(bytes(gpu.unattributedBytes), 'number'), cell('', 'number')));
  }
  return made.length ? made : [element('tr', {}, element('td', {colspan: 3, class: 'quiet'}, 'no tenant'))];
}
