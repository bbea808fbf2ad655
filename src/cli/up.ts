import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Client } from '../client/client.ts';
import type { ResultOf } from '../operations/index.ts';
import type { Arguments } from './arguments.ts';
import { newCommandId } from './call.ts';
import { openClient } from './connect.ts';
import { INTERRUPTED, Refusal } from './errors.ts';
import type { Surroundings } from './own.ts';
import { show } from './show.ts';
import { clean } from './text.ts';
import { followWork } from './up/follow.ts';
import type { Outcome } from './up/follow.ts';
import { summarize } from './up/summary.ts';
import { print, toJson, warn } from './write.ts';

interface UpInput {
  readonly file?: string;
  readonly yes?: boolean;
  readonly detach?: boolean;
  readonly keep?: boolean;
  readonly panes?: boolean;
}

/** Brings a team up from its file, shows it at work, and takes it down when the work is done. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const { file = 'troupe.yaml', ...wishes } = given.input as UpInput;
  const { yes = false, detach = false, keep = false, panes: wanted = true } = wishes;
  const path = resolve(file);
  const source = readSource(path, file);
  const team = { source, name: file, folder: dirname(path) };
  const client = openClient(environment, { patience: Infinity });
  try {
    const approve = yes ? [] : await askForHooks(client, team, signal);
    const config = await client.call('team.up', { ...team, yes, approve }, { signal, commandId: newCommandId() });
    if (detach) {
      await show('team.show', config, { json: given.json, screen });
      if (!given.json) print(`It works in the background: troupe watch ${config.name}, troupe down ${config.name}\n`);
      return 0;
    }
    const panes = await openPanesFor(config, {
      panes: wanted,
      environment,
      isTerminal: screen.isTerminal && !given.json,
    });
    let outcome: Outcome;
    try {
      outcome = await followWork(client, config.name, { screen, json: given.json, signal });
    } finally {
      await panes?.close();
    }
    // Taken down, it could not go on with the answer.
    const stays = outcome.reason === 'person' || (keep && outcome.reason !== 'interrupted');
    if (!stays) await takeDown(client, config.name, outcome);
    if (given.json) print(toJson(outcome, screen.isTerminal ? 2 : undefined));
    else print(summarize(outcome, screen));
    return exitCode(outcome);
  } finally {
    client.close();
  }
}

/** Inside tmux or iTerm2 each member gets a pane; elsewhere the progress says it all. */
async function openPanesFor(
  team: ResultOf<'team.up'>,
  options: { panes: boolean; environment: NodeJS.ProcessEnv; isTerminal: boolean },
): Promise<{ close(): Promise<void> } | undefined> {
  if (!options.panes || !options.isTerminal) return undefined;
  const members = team.members.filter(({ agent }) => agent !== undefined).map(({ id }) => id);
  const { openPanes } = await import('./panes.ts');
  return openPanes(team.name, members, { mode: team.teammateMode, environment: options.environment });
}

/** Done is when every task is completed and a lead has said its last word; anything less is told by the exit code. */
function exitCode(outcome: Outcome): number {
  if (outcome.reason === 'interrupted') return INTERRUPTED;
  return outcome.reason === 'done' ? 0 : 1;
}

function readSource(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refusal(
      'not_found',
      `Cannot read the team file ${name}: ${(error as Error).message}. Make one with: troupe init`,
    );
  }
}

/** Hooks run programs of the checkout as you: a person says yes to each, once for as long as it stays as it is. */
async function askForHooks(
  client: Client,
  team: { source: string; name: string; folder: string },
  signal: AbortSignal,
): Promise<string[]> {
  const { unapproved } = await client.call('team.check', team, { signal });
  if (unapproved.length === 0 || !process.stdin.isTTY) return [];
  warn(`${team.name} brings hooks that run as you:\n`);
  for (const { type, command } of unapproved) warn(`  ${clean(type)}: ${clean(command)}\n`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question('Run them? [y/N] ', { signal });
    return /^y(es)?$/i.test(answer.trim()) ? unapproved.map(({ hash }) => hash) : [];
  } finally {
    lines.close();
  }
}

/** Those who are in the middle of something when the user has had enough are not asked. */
async function takeDown(client: Client, teamId: string, { reason }: Outcome): Promise<void> {
  if (reason === 'done') {
    await client.call('team.down', { teamId, within: 10_000 }, { commandId: newCommandId() });
    return;
  }
  // The team stays open, so that the same command goes on with what is left.
  const members = await client.call('member.list', { teamId });
  const running = members.filter(({ agent, status }) => agent !== undefined && status !== 'stopped');
  await Promise.all(
    running.map(({ id }) => client.call('member.stop', { teamId, memberId: id, reason: 'troupe up ended' })),
  );
}
