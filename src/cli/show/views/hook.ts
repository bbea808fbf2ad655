import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean, cleanLines } from '../text.ts';
import { showDuration, showTime } from '../time.ts';
import { textPart } from './details.ts';
import type { Views } from './views.ts';

export const views: Views = {
  'hook.list': (hooks, screen) => hookTable(hooks, screen),
  'hook.register': (hooks, screen) => hookTable(hooks, screen),
  'hook.remove': ({ removed }) => (removed ? 'The hook is removed.\n' : 'There was no such hook.\n'),
  'gate.runs': ({ entries }, screen) =>
    entries.length === 0 ? 'No gate said anything.\n' : entries.map((entry) => gateRun(entry, screen)).join('\n'),
  'gate.text': (part) => textPart(part),
};

/** One run of a gate: when, its command, its verdict, and what it said. */
function gateRun(run: ResultOf<'gate.runs'>['entries'][number], screen: Screen): string {
  const wordOf = (name: string): string => (typeof run[name] === 'string' ? run[name] : '');
  const verdict = wordOf('unable') || `exit code ${Number(run['code'] ?? run['exitCode'])}`;
  // A gate that could not run gives the reason in place of its output.
  const said = ['stderr', 'stdout']
    .flatMap((name) => cleanLines(wordOf(name)))
    .filter((line) => line !== '' && line !== clean(verdict));
  const head = `${showTime(new Date(run.at).toISOString(), screen)}  ${clean(wordOf('command'))}  ${clean(verdict)}\n`;
  return head + said.map((line) => `  ${line}\n`).join('');
}

function hookTable(hooks: ResultOf<'hook.list'>, screen: Screen): string {
  if (hooks.length === 0) return 'The team has no hooks.\n';
  // Hooks with the same command are told apart by their folder.
  const differ = new Set(hooks.map(({ cwd }) => cwd)).size > 1;
  const rows = hooks.map((hook): Cell[] => [
    { text: hook.type, style: hook.enabled ? 'bold' : 'dim' },
    hook.enabled ? 'on' : 'off',
    hook.onFailure ?? 'allow',
    hook.timeout === undefined ? '' : showDuration(hook.timeout),
    hook.command,
    { text: differ ? (hook.cwd ?? '') : '', style: 'dim' },
  ]);
  const columns = [
    { title: 'EVENT' },
    { title: 'STATE' },
    { title: 'ON FAILURE', spare: 1 },
    { title: 'TIMEOUT', spare: 2 },
    { title: 'COMMAND', flexible: true },
    { title: 'FOLDER', flexible: true, keeps: 'end' },
  ] as const;
  return table(columns, rows, screen);
}
