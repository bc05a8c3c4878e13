import {about} from './about.js';
import {age, byId, cell, element, rows, time} from './dom.js';
import {showRecording} from './recording.js';

let events = [], current = () => undefined, ask;

export function beginEvents(node, json) {
  current = node;
  ask = json;
  for (const id of ['find', 'kind']) byId(id).addEventListener('input', () => { keepFilter(); show(); });
  byId('filter').addEventListener('submit', submit => submit.preventDefault());
  byId('event').addEventListener('close', () => address(parameters => parameters.delete('event')));
  const parameters = new URLSearchParams(location.hash.slice(1));
  byId('find').value = parameters.get('find') ?? '';
  byId('kind').value = parameters.get('kind') ?? '';
}

export function showEvents(page) {
  events = page.events;
  show();
}

function show() {
  const find = byId('find').value.toLowerCase(), kind = byId('kind').value, gpus = current()?.gpus ?? [];
  const chosen = events.filter(event => (kind === '' || (kind === 'healthy') === event.healthy && (kind !== 'fatal' || event.fatal && !event.healthy))
    && (find === '' || JSON.stringify(event).toLowerCase().includes(find)));
  rows(byId('events').tBodies[0], chosen.length ? chosen.map(event => row(event, gpus))
    : [element('tr', {}, element('td', {colspan: 7, class: 'quiet'}, events.length ? 'no event fits' : 'no events yet'))]);
}

function row(event, gpus) {
  const [word, kind] = event.healthy ? ['healthy', 'good'] : event.fatal ? ['fatal', 'bad'] : ['fault', 'warn'];
  return element('tr', {'data-key': event.id},
    cell(time(event.lastSeen)), cell(word, kind), cell(event.check), cell(event.codes.join(', ')), cell(about(event.entities, gpus)),
    element('td', {}, element('button', {class: 'open', type: 'button', onclick: () => openEvent(event.id)}, event.message || (event.healthy ? 'well again' : 'details'))),
    cell(event.occurrences, 'number'));
}

function address(change) {
  const parameters = new URLSearchParams(location.hash.slice(1));
  change(parameters);
  history.replaceState(null, '', '#' + parameters);
}

function keepFilter() {
  address(parameters => {
    for (const id of ['find', 'kind']) {
      if (byId(id).value) parameters.set(id, byId(id).value); else parameters.delete(id);
    }
  });
}

export function openFromAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get('event');
  if (id) openEvent(id);
}

export async function openEvent(id) {
  const dialog = byId('event'), body = byId('event-body');
  address(parameters => parameters.set('event', id));
  if (!dialog.open) dialog.showModal();
  body.replaceChildren('…');
  const path = 'api/v1/events/' + encodeURIComponent(id);
  let event, recording;
  try {
    event = await ask(path);
    recording = await ask(path + '/recording').catch(() => undefined);
  } catch (problem) {
    byId('event-title').textContent = 'No such event';
    body.replaceChildren('It may have been removed for its age. ' + problem.message);
    return;
  }
  byId('event-title').textContent = `${event.check} ${event.codes.join(', ')}`;
  const facts = {
    About: about(event.entities, current()?.gpus ?? []), Message: event.message, Do: event.advice, Action: event.action,
    'Reported by': event.reportedBy ? `${event.agent}, ${event.reportedBy}` : event.agent, First: time(event.received), Last: `${time(event.lastSeen)} (${age(event.lastSeen)} ago)`,
    Times: event.occurrences, ...event.metadata,
  };
  const list = element('dl');
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined && value !== '') list.append(element('dt', {}, name), element('dd', {}, value));
  }
  body.replaceChildren(list, element('p', {}, element('a', {href: path + '/archive', download: `gpuwarden-event-${id}.zip`}, 'Archive for a support case')));
  showRecording(body, recording);
}
