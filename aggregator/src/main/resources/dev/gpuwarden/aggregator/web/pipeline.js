import {age, element, time} from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const KINDS = {done: 'good', 'in-progress': 'busy', waiting: 'warn', failed: 'bad', unknown: 'unknown'};
const OPEN = ['in-progress', 'waiting'];
const LEAST = 0.8;

export const isOpen = pipeline => !!pipeline && pipeline.stages.some(stage => OPEN.includes(stage.state));

// Begin and end as numbers; of an open stage up to now. Nothing for a stage without times.
function span(stage, now) {
  const end = stage.end ? Date.parse(stage.end) : stage.begin && OPEN.includes(stage.state) ? now : Date.parse(stage.begin);
  const begin = stage.begin ? Date.parse(stage.begin) : end;
  return Number.isFinite(begin) && Number.isFinite(end) ? [begin, Math.max(begin, end)] : undefined;
}

// A bar is for the eye alone: the text beside it has all that it shows. Attributes in percent need no style of their own.
function bar(own, first, last) {
  const made = document.createElementNS(SVG, 'svg');
  made.setAttribute('aria-hidden', 'true');
  if (own) {
    const scale = 100 / Math.max(1, last - first), rect = document.createElementNS(SVG, 'rect');
    const width = Math.max(LEAST, (own[1] - own[0]) * scale);
    rect.setAttribute('x', Math.min(100 - width, (own[0] - first) * scale) + '%');
    rect.setAttribute('width', width + '%');
    rect.setAttribute('height', '100%');
    made.append(rect);
  }
  return made;
}

function took(stage, now) {
  if (stage.begin && stage.end) return age(stage.begin, Date.parse(stage.end));
  return stage.begin && OPEN.includes(stage.state) ? age(stage.begin, now) + ' so far' : '';
}

function row(stage, before, own, first, last, now) {
  const resource = stage.resource === before?.resource ? '' : stage.resource;
  const facts = [stage.begin ? time(stage.begin) : stage.end ? 'until ' + time(stage.end) : '', resource, stage.why].filter(text => text);
  return element('li', {class: KINDS[stage.state] ?? 'quiet'},
    element('b', {}, stage.stage), ' ',
    element('span', {}, stage.state.replace('-', ' ')), ' ',
    element('span', {class: 'took'}, took(stage, now)), ' ',
    bar(own, first, last),
    element('small', {}, facts.join(': ')));
}

// The stages from the fault back to service, each with its bar on one scale of time.
export function picture(pipeline, now = Date.now()) {
  if (!pipeline) return [];
  const spans = pipeline.stages.map(stage => span(stage, now)), known = spans.filter(own => own);
  const first = Math.min(...known.map(own => own[0])), last = Math.max(...known.map(own => own[1]));
  const whole = known.length ? `, ${time(first)} to ${time(last)}: ${age(new Date(first).toISOString(), last)}` : '';
  return [element('figure', {class: 'pipeline'},
    element('figcaption', {}, (pipeline.over ? 'Last repair' : 'Repair') + whole),
    element('ol', {}, ...pipeline.stages.map((stage, i, all) => row(stage, all[i - 1], spans[i], first, last, now))))];
}
