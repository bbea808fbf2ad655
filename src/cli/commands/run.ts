import { resolve } from 'node:path';
import type { Arguments, Surroundings } from '../line/command.ts';
import { newCommandId } from '../reach/call.ts';
import { openClient } from '../reach/connect.ts';
import { reportEnd } from '../show/report.ts';
import { standardScreen } from '../show/screen.ts';
import { cleanLines } from '../show/text.ts';
import { print, toJson, warn } from '../show/write.ts';
import { accompany, exitCode, listenForTeamEnd } from './up/accompany.ts';
import { environmentOfRun } from './up/environment.ts';
import { summarize } from './up/summary.ts';
import { watchTrouble } from './up/trouble.ts';
import { workspacesLine } from './up/workspaces.ts';

interface RunInput {
  readonly goal: string;
  readonly lead?: string;
  readonly with?: readonly string[];
  readonly name?: string;
  readonly folder?: string;
  readonly model?: string;
  readonly mode?: 'plan' | 'edit' | 'full';
  readonly delegate?: boolean;
  readonly keep?: boolean;
  readonly panes?: boolean;
}

/** Creates a team for a goal, shows it at work, and ends with its lead's answer. */
export async function run(given: Arguments, { environment, screen }: Surroundings): Promise<number> {
  const { keep = false, panes = true, folder = '.', ...team } = given.input as unknown as RunInput;
  const ending = listenForTeamEnd();
  const trouble = watchTrouble(environment);
  const client = openClient(environment, { patience: Infinity, onState: trouble.onState });
  try {
    const wishes = { ...team, with: [...(team.with ?? [])], folder: resolve(folder) };
    const ours = await environmentOfRun(client, wishes, { environment, signal: ending.signal });
    const config = await client.call(
      'team.run',
      { ...wishes, ...(ours && { environment: ours }) },
      { signal: ending.late, commandId: newCommandId() },
    );
    if (config.work && !given.json) warn(workspacesLine(config, {}, environment));
    const outcome = await accompany(client, config, {
      screen,
      json: given.json,
      ending,
      environment,
      trouble,
      panes,
      keep,
      goesOn: false,
      // Standard output gets only the answer, for pipes.
      tell: warn,
    });
    const report = await client.call('team.report', { teamId: config.name });
    if (given.json) print(toJson(outcome, screen.isTerminal ? 2 : undefined));
    else if (screen.isTerminal) {
      const shown = standardScreen(environment);
      print(`${summarize(outcome, shown, { goesOn: false })}${reportEnd(report, shown)}`);
    } else {
      warn(`${summarize({ ...outcome, answer: undefined }, screen, { goesOn: false })}${reportEnd(report, screen)}`);
      if (outcome.answer) print(`${cleanLines(outcome.answer).join('\n')}\n`);
    }
    return exitCode(outcome);
  } finally {
    client.close();
  }
}
