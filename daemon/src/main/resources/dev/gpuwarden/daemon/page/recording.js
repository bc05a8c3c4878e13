import {bytes, element, shown, time} from './dom.js';
import {lineChart} from './memory.js';

const COLOURS = ['#c94f5b', '#3b7dd8', '#3ba67a', '#d8873b', '#b04fc2', '#7a8b2e', '#2e8b8b', '#8b6f4e'];

// Shows the flight recording of an event: readings of the GPU concerned and of its siblings, kernel lines, processes.
export function showRecording(body, recording) {
  if (!recording) {
    body.append(element('p', {class: 'quiet'}, 'There is no recording: the node keeps what it sees around a fault that comes while its daemon runs, and the newest recordings alone.'));
    return;
  }
  body.append(element('h3', {}, 'Flight recording'),
    element('p', {class: 'quiet'}, `${time(recording.from)} to ${time(recording.until)}; the GPU concerned is the thick line`));
  for (const name of recording.readings) chartOf(body, recording, name);
  lines(body, recording.kernel);
  processes(body, recording.processes);
}

function chartOf(body, recording, name) {
  const all = recording.gpus.filter(gpu => gpu.series[name]?.some(value => value !== null));
  if (!all.length) return;
  const canvas = element('canvas', {role: 'img', 'aria-label': `${name} of each GPU around the event`});
  body.append(element('h4', {}, name.replaceAll('_', ' ')), element('div', {class: 'chart'}, canvas));
  const labels = recording.times.map(offset => `${offset > 0 ? '+' : ''}${Math.round(offset)} s`);
  lineChart(canvas, labels, all.map(gpu => ({
    label: 'GPU ' + gpu.index, data: gpu.series[name], spanGaps: false,
    borderColor: COLOURS[gpu.index % COLOURS.length], borderWidth: gpu.concerned ? 3 : 1,
  })), value => value, false);
}

function lines(body, kernel) {
  body.append(element('h4', {}, 'Kernel log nearby'));
  body.append(kernel.length ? element('pre', {tabindex: 0}, kernel.map(line => `${line.time} ${line.text}`).join('\n')) : element('p', {class: 'quiet'}, 'no line'));
}

function processes(body, list) {
  body.append(element('h4', {}, 'Processes on the GPU'));
  body.append(list.length ? element('pre', {tabindex: 0}, list.map(process => `${process.pid} ${shown(process.name, v => v)} ${process.owner} ${shown(process.usedBytes, bytes)}`).join('\n')) : element('p', {class: 'quiet'}, 'none'));
}
