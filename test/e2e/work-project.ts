import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import type { Stage } from './stage.ts';

/** The text of a file that several members change. */
export const LINES = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n');

/** A member's program: runs `edit`, a shell text that knows $NAME and the number of the task as $TASK. */
export const AGENT = `#!/bin/sh
NAME=$TROUPE_MEMBER_NAME
TASK=$TROUPE_TASK_ID
. ./edit.sh
echo "$NAME did it in $(pwd), slot $TROUPE_SLOT"
`;

/** A repository with a team of two in it. */
export function makeProject({ folder, team }: Stage, edit: string, more: object = {}): string {
  const repository = join(folder, 'project');
  makeRepository(repository, {
    '.gitignore': '.env\nnode_modules/\n',
    'common.txt': `${LINES}\n`,
    'agent.sh': AGENT,
    'edit.sh': edit,
    'gate.sh': '#!/bin/sh\nexit 0\n',
  });
  for (const name of ['agent.sh', 'gate.sh']) chmodSync(join(repository, name), 0o755);
  plainGit(repository, 'commit', '-qam', 'programs');
  const file = {
    team,
    members: ['ann', 'bob'].map((name) => ({ name, agent: { exec: ['./agent.sh'] } })),
    tasks: [
      { title: 'First', assign: 'ann' },
      { title: 'Second', assign: 'bob' },
    ],
    ...more,
  };
  writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(file));
  return repository;
}

/** Runs `troupe up` on the team file of a project. */
export const up = (stage: Stage, repository: string, ...words: string[]) =>
  stage.troupe('up', join(repository, 'troupe.yaml'), '--yes', ...words);

/** Every file below a folder, also of `.git`, with its content and mode. */
export function pictureOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const facts = lstatSync(join(folder, path));
    const content = facts.isFile()
      ? createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex')
      : '';
    found[path] = `${facts.mode.toString(8)} ${content}`;
  }
  return found;
}

/** Each member makes a file and changes a line of a common one. */
export const EACH_A_LINE = `
echo "by $NAME" > $NAME.txt
case $NAME in ann) sed -i 's/^line 2$/line 2 by ann/' common.txt;; bob) sed -i 's/^line 38$/line 38 by bob/' common.txt;; esac
`;

/** Waits until both members have begun, so that neither begins from what the other handed in. */
export const bothHere = ({ folder }: Stage): string =>
  `touch ${folder}/$NAME.here; until [ -e ${folder}/ann.here ] && [ -e ${folder}/bob.here ]; do sleep 0.05; done`;
