import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallError } from '../../src/client/client.ts';
import type { Client } from '../../src/client/client.ts';
import type { Home } from '../../src/client/home.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { rounds } from '../proof.ts';
import { until } from '../until.ts';
import { makeRepository, write } from '../workspaces/project.ts';
import { HomeLedger } from './home-ledger.ts';

/** How many lines a long file has, all changed: a page that drew them all would be found with fewer, too. */
export const LONG_LINES = rounds(1_500, 12_000);
const LONG = Array.from({ length: LONG_LINES }, (_, i) => `export const value${i} = ${i};`);

const PARSER = `import { readFile } from 'node:fs/promises';

/** Splits a text into words. */
export function tokenize(text: string): string[] {
  const found = [];
  for (const word of text.split(' ')) {
    if (word !== '') found.push(word);
  }
  return found;
}

export async function parse(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8');
  return tokenize(text);
}
`;

const NEW_PARSER = PARSER.replace(
  "  const found = [];\n  for (const word of text.split(' ')) {\n    if (word !== '') found.push(word);\n  }\n  return found;\n",
  "  // Tabs and newlines separate words, too.\n  return text.split(/\\s+/u).filter((word) => word !== '');\n",
).replace("await readFile(path, 'utf8')", "await readFile(path, { encoding: 'utf8' })");

/** Texts that try to run in a page, to hide, or to break it. */
export const HOSTILE_LINES = [
  '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>',
  'if (isAdmin\u202e \u2066// check later\u2069 \u2066) {',
  'zero\u200bwidth, \u001b[31mred\u001b[0m, vertical \u000b tab, line \u2028 separator',
  '{{constructor.constructor("globalThis.ran=1")()}} ${globalThis.ran=1}',
  `${'W'.repeat(300)}${'\ufdfd'.repeat(40)}${'Z\u0351\u0301\u0302'.repeat(60)}`,
  '\u05d0\u05d1\u05d2 (\u05d3) = 1;',
  '[U+202E] written as text',
];

/** Makes a repository, and a team that works on it, before the daemon starts. */
export async function writeWorkTeam(home: Home, teamId: string): Promise<void> {
  const repository = join(home.directory, `project-of-${teamId}`);
  mkdirSync(repository);
  const base = makeRepository(repository, {
    'src/parser.ts': PARSER,
    'src/long.ts': `${LONG.join('\n')}\n`,
    'docs/old-name.md': '# Title\n\nOne.\nTwo.\nThree.\nFour.\nFive.\n',
    'scripts/run.sh': '#!/bin/sh\necho run\n',
    'dos.txt': 'first\r\nsecond\r\n',
    'gone.txt': 'gone\n',
    'common.txt': 'one\ntwo\nthree\n',
  });
  const ledger = new HomeLedger(home);
  const team = CreateTeamInput.parse({ name: teamId, description: 'Words of any language.', maxTeammates: 12 });
  const work = { workspaces: 'own', repository, prefix: '', base, branch: `troupe/${teamId}` } as const;
  const approve = { paths: ['review/**'] };
  await ledger.execute(teamId, { type: 'team.create', by: '@user', ...team }, () => undefined);
  await ledger.execute(teamId, { type: 'team.update', by: '@user', work: { ...work, approve } }, () => undefined);
  await ledger.close();
}

/** A member that holds a task in its workspace. */
export async function begin(client: Client, teamId: string, memberId: string, title: string) {
  await client.call('member.add', { teamId, name: memberId, agent: { kind: 'function' } });
  const { id: taskId } = await client.call('task.create', { teamId, title });
  const { epoch = 0 } = (await client.call('task.claim', { teamId, taskId }, { as: memberId })) ?? {};
  const opened = await client.call('work.open', { teamId, memberId });
  await client.call('work.begin', { teamId, memberId, taskId, epoch }, { as: memberId });
  return { taskId, folder: opened?.folder ?? '' };
}

/**
 * What the members do: the work of task 1 lands, that of task 2 conflicts with it and goes back, task 3 is under way, and nothing was
 * changed for task 4.
 */
export async function playWork(client: Client, teamId: string): Promise<void> {
  const ann = await begin(client, teamId, 'ann', 'Separate words at any white space');
  const bob = await begin(client, teamId, 'bob', 'Number the lines');
  const cid = await begin(client, teamId, 'cid', 'Write the guide');
  const dan = await begin(client, teamId, 'dan', 'Look around');
  write(ann.folder, {
    'src/parser.ts': NEW_PARSER,
    'src/long.ts': `${LONG.map((line) => line.replace('const', 'let')).join('\n')}\n`,
    'src/hostile.txt': `${HOSTILE_LINES.join('\n')}\n`,
    'src/minified.js': `${'f(1);'.repeat(2_000)}\n`,
    'new.txt': '\tindented\nno newline at the end',
    'dos.txt': 'first\nsecond\n',
    'common.txt': 'one\ntwo of ann\nthree\n',
    'logo.bin': Buffer.from([137, 80, 78, 71, 0, 1, 2, 3, 255]),
    'huge.txt': `${'y'.repeat(79)}\n`.repeat(8_000),
  });
  rmSync(join(ann.folder, 'gone.txt'));
  renameSync(join(ann.folder, 'docs/old-name.md'), join(ann.folder, 'docs/new-name.md'));
  chmodSync(join(ann.folder, 'scripts/run.sh'), 0o755);
  await client.call('task.complete', { teamId, taskId: ann.taskId, result: 'Done.' }, { as: 'ann' });
  write(bob.folder, { 'common.txt': 'one\ntwo of bob\nthree\n' });
  const sentBack = client.call('task.complete', { teamId, taskId: bob.taskId }, { as: 'bob' });
  await sentBack.catch((error: unknown) => {
    if (!(error instanceof CallError) || error.code !== 'gate_rejected') throw error;
  });
  write(cid.folder, { 'docs/guide.md': '# Guide\n\nRead **this** first.\n' });
  await client.call('work.save', { teamId, memberId: 'cid' }, { as: 'cid' });
  await client.call('task.complete', { teamId, taskId: dan.taskId }, { as: 'dan' });
}

/** Two more members change the same three files and do not hand them in; one of the files conflicts. */
export async function playOverlap(client: Client, teamId: string): Promise<void> {
  // Work that was sent back changes one of these files, too.
  for (const { id } of await client.call('task.list', { teamId, status: 'in_progress' })) {
    await client.call('task.fail', { teamId, taskId: id, reason: 'not needed' });
  }
  for (const name of ['eve', 'fay']) {
    const { folder } = await begin(client, teamId, name, `Reword the texts, ${name}`);
    const common = readFileSync(join(folder, 'common.txt'), 'utf8');
    write(folder, {
      'common.txt': common.replace(name === 'eve' ? /^one/ : /three/, `by ${name}`),
      'docs/a-long-folder-of-many-guides/chapters/first-chapter.md': `# Chapter of ${name}\n`,
      'src/<b>name\u202e.ts': 'export {};\n',
    });
    await client.call('work.save', { teamId, memberId: name }, { as: name });
  }
}

/**
 * Two members hand in their work, and the gate waits for a file: the first lands, the second waits. Returns a function that lets the
 * gate pass.
 */
export async function playQueue(client: Client, home: Home, teamId: string): Promise<() => Promise<void>> {
  const free = join(home.directory, 'the-gate-is-free');
  const command = `until [ -e '${free}' ]; do sleep 0.1; done`;
  await client.call('hook.register', { teamId, type: 'TaskCompleted', command });
  const taskIds: string[] = [];
  for (const name of ['gus', 'hal']) {
    const { folder, taskId } = await begin(client, teamId, name, `Add a page of ${name}, whose title is rather long`);
    write(folder, { [`pages/${name}.md`]: `# ${name}\n` });
    await client.call('task.complete', { teamId, taskId, wait: 1 }, { as: name });
    taskIds.push(taskId);
  }
  return async () => {
    writeFileSync(free, '');
    for (const taskId of taskIds) {
      const isLanded = async () => (await client.call('task.show', { teamId, taskId })).status === 'completed';
      await until(`task ${taskId} landed`, isLanded);
    }
  };
}
