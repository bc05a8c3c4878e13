import {byId, element} from './dom.js';
import {showHead, showGpus, showFaults, showChecks} from './node.js';
import {showMemory} from './memory.js';
import {beginEvents, openFromAddress, showEvents} from './events.js';

const REFRESH_MS = 2000;
const CALM_MS = 500;
const WAIT_SECONDS = 10;

let node, faults = {faults: []}, memory = {moments: []}, memoryMoment;

async function json(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

const pause = ms => new Promise(done => setTimeout(done, ms));

// Readings change all the time; faults, events and the hour of memory are asked for when there are others. No news comes of events
// that are not stored, which change the faults too.
async function refresh(news) {
  try {
    const now = await json('api/v1/node');
    if (news || now.notStored || node?.notStored) faults = await json('api/v1/faults');
    node = {...now, ...faults};
    byId('link').textContent = '';
    showHead(node);
    showFaults(node);
    showGpus(node);
    showChecks(node);
    if (node.memoryMoment !== memoryMoment) {
      memory = await json('api/v1/memory');
      memoryMoment = node.memoryMoment;
    }
    showMemory(node, memory);
    if (news) showEvents(await json('api/v1/events'));
  } catch (problem) {
    console.error(problem);
    byId('link').replaceChildren(element('span', {class: 'bad'}, 'the daemon does not answer; what is shown is old'));
  }
}

async function refreshForEver() {
  for (;;) {
    await pause(REFRESH_MS);
    if (!document.hidden) await refresh(false);
  }
}

// A long poll: the daemon answers when there is news, or after a while. So the page shows news immediately.
async function listenForEver() {
  for (let seen = 0;;) {
    try {
      const news = await json(`api/v1/news?seen=${seen}&wait=${WAIT_SECONDS}`);
      if (news.seen !== seen) await refresh(true);
      seen = news.seen;
      await pause(CALM_MS);
    } catch (problem) {
      // Too many pages wait already, or the daemon is away.
      await pause(5 * REFRESH_MS);
      await refresh(true);
    }
  }
}

beginEvents(() => node, json);
await refresh(true);
openFromAddress();
refreshForEver();
listenForEver();
