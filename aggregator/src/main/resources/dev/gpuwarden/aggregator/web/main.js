import {byId, element} from './dom.js';
import {showAround} from './around.js';
import {beginFilter, showStates} from './filter.js';
import {beginNodes, showNodes, showOpenNode} from './nodes.js';

// Everything is asked for beside this page, and never with the name and password that its address may have.
const base = new URL('.', location.origin + location.pathname);
const nodes = new Map();
let fleet;

function show() {
  if (!fleet) return;
  showStates(fleet);
  showNodes(nodes);
  showOpenNode(nodes);
  showAround(fleet);
}

function hear(news) {
  if (news.all) nodes.clear();
  for (const node of news.nodes) nodes.set(node.name, node);
  // Decisions come only when there are others.
  fleet = {...fleet, ...news};
  byId('link').textContent = '';
  // Changes within one frame are shown together.
  requestAnimationFrame(show);
}

function listen() {
  const stream = new EventSource(new URL('api/v1/fleet/news', base));
  let broken;
  stream.onopen = () => { clearTimeout(broken); byId('link').textContent = ''; };
  stream.onmessage = event => hear(JSON.parse(event.data));
  stream.onerror = () => {
    clearTimeout(broken);
    broken = setTimeout(() => byId('link').replaceChildren(
      element('span', {class: 'bad'}, 'the aggregator does not answer; what is shown is old')), 3000);
    // A refusal ends it for good: try again now and then.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => { stream.close(); listen(); }, 5000);
  };
}

beginFilter(show);
beginNodes(() => nodes, show);
listen();
setInterval(() => { if (!document.hidden) show(); }, 30000);
