import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { newTroupe } from './troupe.ts';

interface Outcome {
  readonly tasks: readonly { readonly startedAt: string; readonly completedAt: string }[];
  readonly worked: Readonly<Record<string, number>>;
}

type Asked = Readonly<Record<'requestedAt' | 'answeredAt', string>>;

const TEAM = `team: planned
members:
  - { name: ann, plan: required, agent: { exec: [sh, -c, 'cat > /dev/null; echo done'] } }
tasks:
  - { id: a, title: First thing, assign: ann }
`;

test('troupe up without a terminal says which answer it waits for, as ps does, and goes on with it', async () => {
  const troupe = newTroupe();
  const file = join(temporaryFolder(), 'troupe.yaml');
  writeFileSync(file, TEAM);
  await troupe.ask('status');
  const up = troupe.start(['up', '--yes', file, '--json']);
  const hint = await until('it says so', () => /waits for you: the plan of ann\. .*/.exec(up.output.stderr)?.[0]);
  expect(hint).toContain('To approve the plan: troupe approve ann; to say no, add --deny');
  const { stdout } = await troupe.ask('ps');
  expect(stdout).toMatch(/^TEAM +MEMBER +STATUS +DOING +AGENT +PID +STARTED\n/);
  expect(stdout).toContain(`waits for your answer (plan): troupe approve ann  exec`);
  expect(await troupe.ask('approve nobody')).toMatchObject({ status: 3 });
  expect(await troupe.ask('approve --deny')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Which request?'),
  });
  expect((await troupe.ask('approve')).stdout).toMatch(
    /^plan of ann \(team planned, .*\)\n {2}│ .*\n {2}To approve the plan: troupe approve ann\n {2}To reject the plan: troupe approve ann --deny --feedback "why"\n$/s,
  );
  const answered = await troupe.ask('approve ann');
  expect(answered).toMatchObject({ status: 0, stdout: 'The plan of ann is approved: the work begins.\n' });
  expect(await up.ended).toMatchObject({ status: 0 });
  const outcome = JSON.parse(up.output.stdout) as Outcome;
  expect(outcome).toMatchObject({ reason: 'done', open: false });
  const [plan] = JSON.parse((await troupe.ask('request list --team planned --json')).stdout) as Asked[];
  const [task] = outcome.tasks;
  const took = Date.parse(task?.completedAt ?? '') - Date.parse(task?.startedAt ?? '');
  const waited = Date.parse(plan?.answeredAt ?? '') - Date.parse(plan?.requestedAt ?? '');
  expect(waited).toBeGreaterThan(0);
  expect(outcome.worked).toEqual({ '1': took - waited });
  expect(up.output.stderr.match(/waits for you/g)).toHaveLength(1);
});
