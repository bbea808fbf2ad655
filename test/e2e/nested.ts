import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import type { Stage } from './stage.ts';

/** A member entry for a fixture, without a name. */
export function fixture(stage: Stage, name: string): object {
  const { name: _name, ...runs } = stage.member('', name) as { name: string };
  return runs;
}

/** Rejects the first work that it sees. */
const GATE = '#!/bin/sh\ngrep -q twice part.txt || { echo "Say twice" >&2; exit 2; }\n';

/** A repository with a team. One of its members is a team of two. */
export function makeNested(
  stage: Stage,
  work: string,
  {
    inner = {},
    outer = {},
    prompt = 'add ann Write the part',
  }: { inner?: object; outer?: object; prompt?: string } = {},
): string {
  const repository = join(stage.folder, 'project');
  makeRepository(repository, { 'common.txt': 'one\ntwo\n', 'work.sh': `#!/bin/sh\n${work}\n`, 'gate.sh': GATE });
  chmodSync(join(repository, 'gate.sh'), 0o755);
  chmodSync(join(repository, 'work.sh'), 0o755);
  const review = {
    team: 'review',
    lead: { name: 'chief', prompt, ...fixture(stage, 'converses') },
    members: [{ name: 'ann', agent: { exec: ['./work.sh'] } }],
    ...inner,
  };
  const team = {
    team: stage.team,
    lead: 'person',
    members: [
      { name: 'rev', agent: { team: './review/troupe.yaml' } },
      { name: 'bob', agent: { exec: ['./work.sh'] } },
    ],
    tasks: [{ title: 'Review it', description: 'All of it', assign: 'rev' }],
    ...outer,
  };
  mkdirSync(join(repository, 'review'), { recursive: true });
  writeFileSync(join(repository, 'review/troupe.yaml'), JSON.stringify(review, null, 2));
  writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(team, null, 2));
  plainGit(repository, 'add', '-A');
  plainGit(repository, 'commit', '-qm', 'teams');
  return repository;
}

/** Starts the team of a repository. */
export async function up(stage: Stage, repository: string): Promise<void> {
  await stage.ask('up', join(repository, 'troupe.yaml'), '--yes', '--detach');
}

/** Waits until a task is completed. */
export const completed = (stage: Stage, taskId = '1') =>
  until('the task is completed', async () => {
    const task = await stage.task(stage.team, taskId);
    if (task.status === 'failed') throw new Error(`failed: ${task.failure}`);
    return task.status === 'completed' ? task : undefined;
  });

/** Waits until the program of a member has written its line, and returns how often it did. */
export const begun = (stage: Stage, times = 1) =>
  until(`the work began ${times} times`, () => {
    const path = join(stage.folder, 'begun');
    return existsSync(path) && readFileSync(path, 'utf8').split('\n').length - 1 >= times;
  });

/** A program that says what it used, and waits for the file `go` before it does its part. */
export const waiting = ({ folder }: Stage, tokens = 0): string => `
echo '{"type":"usage","usage":{"inputTokens":${tokens},"turns":1}}'
echo x >> ${folder}/begun
until [ -e ${folder}/go ]; do sleep 0.05; done
echo part > part.txt`;
