import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { Client } from '../../../client/client.ts';
import { suggestSlug } from '../../../core/fields.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { newCommandId } from '../../reach/call.ts';
import { Refusal } from '../../show/errors.ts';
import type { Screen } from '../../show/screen.ts';
import { describeUnapproved } from '../up/approval.ts';
import { checkTeam, environmentOfRun } from '../up/environment.ts';
import { readSource, TEAM_FILE } from '../up/source.ts';

/** Which team a new session has, from the command line. */
export interface TeamWishes {
  /** The team file, relative to the folder of the session. */
  readonly file?: string;
  /** Without a file: the agent that leads, and those of its teammates. */
  readonly lead?: string;
  readonly with?: readonly string[];
  readonly model?: string;
  readonly mode?: 'plan' | 'edit' | 'full';
}

/** The team of a session before its first prompt. */
export interface PlannedTeam {
  readonly name: string;
  readonly cwd: string;
  readonly wishes: TeamWishes;
  /** Its file; without one, the prompt makes a team as `troupe run` does. */
  readonly file: { readonly path: string; readonly name: string } | undefined;
}

/** What starting a team needs. */
export interface Starting {
  readonly client: Client;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly ask: (request: Omit<RequestPermissionRequest, 'sessionId'>) => Promise<RequestPermissionResponse>;
}

/**
 * Chooses the team of a new session. A team file is checked at once, so that the person learns of mistakes before
 * writing a prompt. Nothing runs before the first prompt. Each session has a team of its own, so its name is unique.
 */
export async function planTeam(
  { client, environment, signal }: Omit<Starting, 'ask'>,
  cwd: string,
  wishes: TeamWishes,
): Promise<PlannedTeam> {
  const file = findFile(cwd, wishes);
  if (!file) return { name: uniqueName(basename(cwd)), cwd, wishes, file };
  const team = { source: readSource(file.path, file.name), name: file.name, folder: dirname(file.path) };
  const { found } = await checkTeam(client, team, { environment, signal });
  return { name: uniqueName(found.team), cwd, wishes, file };
}

function findFile(cwd: string, { file, lead }: TeamWishes): PlannedTeam['file'] {
  if (file !== undefined) return { path: resolve(cwd, file), name: file };
  const path = resolve(cwd, TEAM_FILE);
  return lead === undefined && existsSync(path) ? { path, name: TEAM_FILE } : undefined;
}

/** Random, because several editors may begin sessions of the same file at the same time. */
function uniqueName(base: string): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => (byte % 36).toString(36)).join('');
  return suggestSlug(`${suggestSlug(base).slice(0, 50)}-${random}`);
}

/** Starts the team for its first prompt. Resolves with undefined if the person did not allow what its file runs. */
export async function startTeam(
  starting: Starting,
  planned: PlannedTeam,
  goal: string,
): Promise<ResultOf<'team.show'> | undefined> {
  return planned.file ? raise(starting, planned, { file: planned.file, goal }) : run(starting, planned, goal);
}

async function raise(
  { client, environment, signal, ask }: Starting,
  { name: team }: PlannedTeam,
  { file, goal }: { file: NonNullable<PlannedTeam['file']>; goal: string },
): Promise<ResultOf<'team.show'> | undefined> {
  const source = { source: readSource(file.path, file.name), name: file.name, folder: dirname(file.path), team };
  const { found, given } = await checkTeam(client, source, { environment, signal });
  if (found.work?.refused !== undefined) throw new Refusal('conflict', found.work.refused);
  const isRefused = found.broken.length > 0 || (found.unrunnable ?? []).length > 0;
  // A team that will be refused anyway needs no approval.
  const unapproved = isRefused ? [] : found.unapproved;
  if (unapproved.length > 0 && !(await isAllowed(ask, unapproved, source))) return undefined;
  return client.call(
    'team.up',
    {
      ...source,
      approve: unapproved.map(({ hash }) => hash),
      environment: given,
      ...(found.leads && { goal }),
    },
    { commandId: newCommandId() },
  );
}

/** Nothing is wrapped: the editor does that. */
const PAGE: Screen = { isTerminal: false, hasColor: false, columns: Infinity, now: 0 };

/** The question that `troupe up` asks before it runs what a file says. */
async function isAllowed(
  ask: Starting['ask'],
  unapproved: ResultOf<'team.check'>['unapproved'],
  { name, folder }: { name: string; folder: string },
): Promise<boolean> {
  const text = describeUnapproved(unapproved, folder, PAGE);
  const { outcome } = await ask({
    toolCall: {
      toolCallId: `approve-${crypto.randomUUID()}`,
      title: `${name} has commands that run as you, in ${folder}`,
      kind: 'execute',
      status: 'pending',
      content: [{ type: 'content', content: { type: 'text', text } }],
    },
    options: [
      { optionId: 'yes', name: 'Run them; ask again only if they change', kind: 'allow_always' },
      { optionId: 'no', name: 'Do not run them', kind: 'reject_once' },
    ],
  });
  return outcome.outcome === 'selected' && outcome.optionId === 'yes';
}

async function run(
  { client, environment, signal }: Starting,
  { name, cwd: folder, wishes }: PlannedTeam,
  goal: string,
): Promise<ResultOf<'team.show'>> {
  const { file: _none, with: others = [], ...chosen } = wishes;
  const team = { ...chosen, with: [...others], folder };
  const given = await environmentOfRun(client, team, { environment, signal });
  const wanted = { ...team, goal, name, ...(given && { environment: given }) };
  return client.call('team.run', wanted, { commandId: newCommandId() });
}
