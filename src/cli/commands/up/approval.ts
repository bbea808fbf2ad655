import { relative } from 'node:path';
import type { ResultOf } from '../../../operations/index.ts';
import { askYesNo } from '../../show/ask.ts';
import { Refusal } from '../../show/errors.ts';
import type { Screen } from '../../show/screen.ts';
import { clean, fold, visibleLines, widthOf } from '../../show/text.ts';
import { wholeText } from '../../show/whole-text.ts';
import { warn } from '../../show/write.ts';

/** Something that a team file runs and that nobody has approved. */
export type Unapproved = ResultOf<'team.check'>['unapproved'][number];

/**
 * A team file runs programs as you, and it may come from somebody else. Shows all of them, and asks if there is a
 * terminal. A person approves each once, until it changes. Returns what was approved; a no is an error.
 */
export async function askToRun(
  unapproved: readonly Unapproved[],
  team: { readonly name: string; readonly folder: string },
  { signal, screen }: { readonly signal: AbortSignal; readonly screen: Screen },
): Promise<string[]> {
  if (unapproved.length === 0) return [];
  warn(fold(`${clean(team.name)} has commands that run as you, in ${clean(team.folder)}:\n`, screen));
  warn(describeUnapproved(unapproved, team.folder, screen));
  if (!process.stdin.isTTY) {
    // The team starts without them.
    if (unapproved.every(({ type }) => type === 'notify')) warn(fold(UNSENT, screen));
    return [];
  }
  if (await askYesNo('Run them?', signal)) return unapproved.map(({ hash }) => hash);
  throw new Refusal(
    'not_allowed',
    `Nothing was started: you did not allow what ${team.name} runs. To be asked again, run the same command`,
  );
}

const UNSENT = 'troupe: Nobody has approved the notices of the file, so none is sent. To approve them, add --yes\n';

/** Everything that an approval covers, to its end. */
export function describeUnapproved(unapproved: readonly Unapproved[], folder: string, screen: Screen): string {
  return unapproved.map((one) => describe(one, folder, screen)).join('');
}

function describe(one: Unapproved, folder: string, screen: Screen): string {
  const {
    type,
    members = [],
    command,
    env = [],
    servers = [],
    sandbox = false,
    isFree = false,
    allow = [],
    files,
    obeys = [],
    changed,
    changedFiles = [],
  } = one;
  const who = clean(members.length > 0 ? members.join(', ') : type);
  const since = changed ? ' (changed since you approved it)' : '';
  const names = files.map(
    (path) => `${clean(relative(one.folder, path))}${changedFiles.includes(path) ? ' (changed)' : ''}`,
  );
  const covers = names.length === 0 ? 'Your approval covers this' : `Your approval covers it and ${names.join(', ')}`;
  return [
    whatRuns(who, command, { since, screen }),
    ...(one.folder === folder ? [] : [part('in', one.folder, screen)]),
    ...env.map((variable) => part(type === 'agent' ? 'with' : 'sees your', variable, screen)),
    ...(sandbox ? ['    runs in a sandbox\n'] : []),
    ...servers.map((server) => part('has the tools of', server, screen)),
    ...(isFree ? ['    may do everything without asking (mode: full)\n'] : []),
    ...obeys.map((path) => part('obeys, and may run programs because of,', relative(folder, path), screen)),
    ...allow.map((rule) => part('may, without asking,', rule, screen)),
    `${fold(`    ${covers}.`, screen)}\n`,
  ].join('');
}

function whatRuns(
  who: string,
  command: string,
  { since, screen }: { readonly since: string; readonly screen: Screen },
): string {
  const lines = visibleLines(command);
  const line = `  ${who}: ${lines[0]}${since}`;
  if (lines.length === 1 && widthOf(line) <= screen.columns) return `${line}\n`;
  return `${fold(`  ${who}:${since}`, screen)}\n${wholeText(command, screen, '    ')}`;
}

/** One setting; a value of several lines cannot pose as other settings. */
function part(what: string, value: string, screen: Screen): string {
  const lines = visibleLines(value);
  const line = `    ${what} ${lines[0]}`;
  if (lines.length === 1 && widthOf(line) <= screen.columns) return `${line}\n`;
  return `    ${what}\n${wholeText(value, screen, '      ')}`;
}
