import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { newTroupe, until } from './troupe.ts';

const TEAM = `team: planned
members:
  - { name: ann, plan: required, agent: { exec: [sh, -c, 'cat > /dev/null; echo done'] } }
tasks:
  - { id: a, title: First thing, assign: ann }
`;

test('troupe up without a terminal says whose answer it waits for, ps too, and goes on with it', async () => {
  const troupe = newTroupe();
  const file = join(temporaryFolder(), 'troupe.yaml');
  writeFileSync(file, TEAM);
  await troupe.run('status');
  const up = troupe.start(['up', file, '--json']);
  const hint = await until('it says so', () => /waits for you: the plan of ann\. .*/.exec(up.output.stderr)?.[0]);
  const [, request = ''] = /troupe approve (\S+), no with --deny/.exec(hint) ?? [];
  const { stdout } = await troupe.run('ps');
  expect(stdout).toMatch(/^TEAM +MEMBER +STATUS +DOING +AGENT +PID +STARTED\n/);
  expect(stdout).toContain(`waits for your answer (plan): troupe approve ${request}  exec`);
  expect(await troupe.run('approve nobody')).toMatchObject({ status: 3 });
  const answered = await troupe.run('approve ann');
  expect(answered).toMatchObject({ status: 0, stdout: `The plan ${request} of ann is approved.\n` });
  expect(await up.ended).toMatchObject({ status: 0 });
  expect(JSON.parse(up.output.stdout)).toMatchObject({ reason: 'done', open: false });
  expect(up.output.stderr.match(/waits for you/g)).toHaveLength(1);
}, 60_000);
