import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { HomeLedger } from './home-ledger.ts';

const MINUTE = 60_000;

/** Teams beside the story: one that is done, one that was closed, one that has just been made. */
export async function writeSmallTeams(home: Home, end = Date.now()): Promise<void> {
  const ledger = new HomeLedger(home);
  const make = async (name: string, description: string, at: number, tasks: readonly string[]): Promise<void> => {
    const team = CreateTeamInput.parse({ name, description });
    await ledger.execute(name, { type: 'team.create', by: '@user', at, ...team }, () => undefined);
    const member = JoinInput.parse({ name: 'ines', role: 'writer', agentType: 'claude' });
    if (tasks.length > 0) {
      await ledger.execute(name, { type: 'member.join', by: 'lead', at, ...member }, () => undefined);
    }
    for (const [i, title] of tasks.entries()) {
      const taskId = String(i + 1);
      const usage = {
        inputTokens: 18_000 * (i + 1),
        outputTokens: 2_400,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        turns: 1,
      };
      const steps: NewCommand[] = [
        { type: 'task.create', by: 'lead', ...CreateTaskInput.parse({ title }) },
        { type: 'task.claim', by: 'ines', taskId },
        {
          type: 'usage.record',
          by: 'ines',
          memberId: 'ines',
          taskId,
          usage: { ...usage, costUsd: 0.21, estimated: false },
        },
        { type: 'task.complete', by: 'ines', taskId, result: 'done' },
      ];
      const moment = at + (i + 1) * 4 * MINUTE;
      await ledger.execute(
        name,
        steps.map((step) => ({ ...step, at: moment })),
        () => undefined,
      );
    }
  };
  await make('release-1-4', 'Change log, version, tags and the announcement for 1.4.', end - 26 * 60 * MINUTE, [
    'Collect what changed',
    'Write the announcement',
    'Tag and publish',
  ]);
  await ledger.execute(
    'release-1-4',
    { type: 'team.close', by: '@user', at: end - 25 * 60 * MINUTE, force: true },
    () => undefined,
  );
  await make('fix-login', 'Sessions end too early behind a proxy.', end - 95 * MINUTE, [
    'Reproduce it',
    'Fix the cookie',
    'Test behind a proxy',
  ]);
  await make('docs-site', 'A site for the manual, from the same Markdown.', end - 3 * MINUTE, []);
  await ledger.close();
}
