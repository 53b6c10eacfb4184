// What change_impact answers, drawn: one page that needs nothing but a browser. Columns from the change outwards, lines between them.

import type { AffectedTest, Dependant, Root } from '../channel/messages.generated.ts';
import type { ImpactReply } from './impact.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './impact-page-parts.ts';

/** Nodes of one column; more than this no eye follows. The rest is counted. */
const MOST_NODES = 150;

/** TEXT for use between tags and in quoted attributes: names and paths are whatever a repository holds. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

interface Node {
  id: string;
  parents: readonly string[];
  title: string;
  place: string;
  certainty: string;
  note: string;
}

interface Column {
  heading: string;
  nodes: readonly Node[];
}

function rootNode(root: Root, index: number): Node {
  const { path, line, name, scope, kind, touched } = root;
  const title = kind === 'file' ? path : `${scope ? `${scope}.` : ''}${name}`;
  return {
    id: `r${index}`,
    parents: [],
    title,
    place: `${path}:${line}`,
    certainty: 'root',
    note: `${kind}, ${touched}`,
  };
}

const key = ({ hop, via, name }: Dependant): string => JSON.stringify([hop, [...via, name]]);

/** The nodes of the callers, each with the node that it calls: the one whose way is its own way less the last step. */
function callerNodes(dependants: readonly Dependant[], roots: readonly Node[]): Map<Dependant, Node> {
  const byWay = new Map<string, string>();
  dependants.forEach((row, index) => {
    if (!byWay.has(key(row))) byWay.set(key(row), `c${index}`);
  });
  const rootIds = roots.map(({ id }) => id);
  return new Map(
    dependants.map((row, index) => {
      const parent = row.hop > 1 ? byWay.get(JSON.stringify([row.hop - 1, row.via])) : undefined;
      const called = row.name === '<module>' ? 'top of the module' : `${row.scope ? `${row.scope}.` : ''}${row.name}`;
      const node: Node = {
        id: `c${index}`,
        parents: parent ? [parent] : row.hop > 1 ? [] : rootIds,
        title: called,
        place: `${row.path}:${row.callLine}`,
        certainty: row.certainty,
        note: `${row.certainty}, ${row.hop === 1 ? 'calls it' : `${row.hop} calls away`}${row.test ? ', in a test' : ''}`,
      };
      return [row, node] as const;
    }),
  );
}

function testNode(test: AffectedTest, index: number, callers: ReadonlyMap<Dependant, Node>): Node {
  const parents = [...callers].filter(([row]) => row.path === test.path).flatMap(([, { parents: above }]) => above);
  const names = test.names.slice(0, 5).join('; ');
  return {
    id: `t${index}`,
    parents: [...new Set(parents)],
    title: test.path,
    place: names,
    certainty: test.certainty,
    note: `${test.certainty}, ${test.reason}`,
  };
}

function columnsOf(reply: ImpactReply): Column[] {
  const roots = reply.root.map(rootNode);
  const callers = callerNodes(reply.dependant, roots);
  const hops = [...new Set(reply.dependant.filter(({ test }) => !test).map(({ hop }) => hop))].sort((a, b) => a - b);
  return [
    { heading: 'Changed', nodes: roots },
    ...hops.map((hop) => ({
      heading: hop === 1 ? 'Calls it' : `${hop} calls away`,
      nodes: [...callers].filter(([row]) => !row.test && row.hop === hop).map(([, node]) => node),
    })),
    {
      heading: 'Tests, most telling first',
      nodes: reply['affected-test'].map((test, index) => testNode(test, index, callers)),
    },
  ];
}

function nodeMarkup({ id, parents, title, place, certainty, note }: Node): string {
  const text = `<strong>${escapeHtml(title)}</strong><span>${escapeHtml(place)}</span><em>${escapeHtml(note)}</em>`;
  return `<li><button type="button" id="${id}" class="${escapeHtml(certainty)}" data-parents="${parents.join(' ')}">${text}</button></li>`;
}

function columnMarkup({ heading, nodes }: Column): string {
  const rest = nodes.length - MOST_NODES;
  const more = rest > 0 ? `<p>… ${rest} more</p>` : '';
  const list =
    nodes.length > 0 ? `<ol>${nodes.slice(0, MOST_NODES).map(nodeMarkup).join('')}</ol>` : '<p>none known</p>';
  return `<section><h2>${escapeHtml(heading)} <small>${nodes.length}</small></h2>${list}${more}</section>`;
}

/** REPLY as an HTML page that loads nothing; COMMANDS run the tests. */
export function renderImpactPage(reply: ImpactReply, commands: readonly string[]): string {
  const head = reply.impact[0];
  const doubts = reply.reason.map(
    ({ doubt, text }) => `<li>${doubt === 'full-suite' ? 'Run the full suite: ' : ''}${escapeHtml(text)}</li>`,
  );
  const shown = reply.dependant.length;
  const counted = head && head.callers > shown ? ` The nearest ${shown} of ${head.callers} callers are drawn.` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Impact of a change</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>Impact of a change</h1>
<p>Looked at ${escapeHtml(head?.inspected ?? 'nothing')}.${counted}</p>
${doubts.length > 0 ? `<p>Incomplete:</p><ul>${doubts.join('')}</ul>` : '<p>Complete as far as calls show.</p>'}
${commands.length > 0 ? `<p>Run:</p><pre>${commands.map(escapeHtml).join('\n')}</pre>` : ''}
<p class="legend"><span class="exact">exact</span> <span class="likely">likely</span> <span class="possible">possible</span></p>
<p class="keys">Choose a box to see what leads to it and what it leads to. Arrow keys move, Escape shows everything.</p>
</header>
<main>
<svg aria-hidden="true"></svg>
${columnsOf(reply).map(columnMarkup).join('\n')}
</main>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}
