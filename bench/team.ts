import type { CommandOf } from '../src/core/command.ts';
import type { TeamEvent } from '../src/core/event.ts';
import { JoinInput } from '../src/core/member.ts';
import { CreateTaskInput } from '../src/core/task.ts';
import { CreateTeamInput } from '../src/core/team.ts';
import type { Journal } from '../src/journal/journal.ts';
import type { Ledger, NewCommand } from '../src/ledger/ledger.ts';

/** Eight workers, as many as compete in the peers' figures. */
export const WORKERS = Array.from({ length: 8 }, (_, i) => `worker-${i + 1}`);

/** Makes a team with 8 workers and `tasks` ready tasks. */
export async function makeTeam(ledger: Ledger, teamId: string, tasks: number): Promise<void> {
  await ledger.execute(teamId, teamCommands(teamId), () => undefined);
  const chunk = 500;
  for (let made = 0; made < tasks; made += chunk) {
    const commands = Array.from({ length: Math.min(chunk, tasks - made) }, (_, i) => createTask(made + i + 1));
    await ledger.execute(teamId, commands, () => undefined);
  }
}

/** The commands that make a team with its workers. */
export function teamCommands(teamId: string): NewCommand[] {
  return [
    {
      type: 'team.create',
      by: '@user',
      ...CreateTeamInput.parse({ name: teamId, maxTeammates: 32, messagesPerMinute: 1_000_000 }),
    },
    ...WORKERS.map((name) => ({ type: 'member.join' as const, by: '@user', ...JoinInput.parse({ name }) })),
  ];
}

/** The same with workspaces, which nothing runs in. */
export function apartCommands(
  teamId: string,
  { repository, base, gates = 2 }: { repository: string; base: string; gates?: number },
): NewCommand[] {
  const [create, ...joins] = teamCommands(teamId) as [NewCommand, ...NewCommand[]];
  const work = { workspaces: 'own', repository, prefix: '', base, branch: `troupe/${teamId}`, gates } as const;
  const agent = { kind: 'function' } as const;
  return [
    create,
    { type: 'team.update', by: '@user', work },
    ...joins.map((join) => ({ ...join, agent }) as NewCommand),
  ];
}

/** A task as in a real list: a title, and a paragraph that says what to do. */
export function createTask(i: number): Omit<CommandOf<'task.create'>, 'at'> {
  const title = `Task ${i}: move the parser of the settings file to the new schema`;
  const description = `Read settings/parser-${i}.ts, replace the hand-written checks by the schema, and keep every error message.`;
  return { type: 'task.create', by: '@user', ...CreateTaskInput.parse({ title, description }) };
}

/** All events of a team on disk, by batch. */
export async function readTeam(journal: Journal, teamId: string): Promise<TeamEvent[][]> {
  const batches: TeamEvent[][] = [];
  for await (const { events } of journal.read(teamId, 0)) batches.push([...events]);
  return batches;
}
