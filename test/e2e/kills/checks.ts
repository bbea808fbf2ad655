import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Home } from '../../../src/client/home.ts';
import { contents, plainGit } from '../../workspaces/project.ts';
import { filesOf, lockOf } from './agent.ts';
import type { Deeds, Note } from './deeds.ts';

/** The depot of the only project of a home. */
function depotIn({ directory }: Home): string {
  const name = readdirSync(join(directory, 'depots')).find((one) => one.endsWith('.git')) ?? '';
  return join(directory, 'depots', name);
}

/** Every answered save is in the depot, with its content, and a ref keeps it. Git fails if a ref leads to nothing. */
export function checkDepot(home: Home, known: readonly Note[], about = ''): void {
  const objects = plainGit(depotIn(home), 'rev-list', '--objects', '--all').split('\n');
  const found = new Set(objects);
  const lost = known.filter(({ path, content }) => !found.has(`${blobId(content)} ${path}`));
  expect(lost, about).toEqual([]);
}

/** The id that git gives to a file. */
function blobId(content: string): string {
  const bytes = Buffer.from(content);
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** After all tasks are done: each landed once, with just what it did, and everything in git is whole. */
export async function checkTeam(deeds: Deeds): Promise<{ depot: string }> {
  const { client, teamId, stage } = deeds;
  const tasks = await client.call('task.list', { teamId, limit: 10_000 });
  expect(tasks.map(({ status, work }) => `${status} ${work?.state}`)).toEqual(tasks.map(() => 'completed landed'));
  const { depot = '', base = '', tip = '' } = await client.call('work.show', { teamId });
  const ids = tasks.map(({ id }) => id).sort();
  const completed = deeds.events().flatMap((event) => (event.type === 'task:completed' ? event.taskId : []));
  expect(completed.sort()).toEqual(ids);
  let at = base;
  const landed: string[] = [];
  for (const event of deeds.events()) {
    if (event.type !== 'work:landed') continue;
    expect(event.onto).toBe(at);
    at = event.merged;
    landed.push(event.taskId);
  }
  expect([at, landed.sort()]).toEqual([tip, ids]);
  expect(plainGit(depot, 'rev-parse', `refs/heads/troupe/${teamId}`)).toBe(tip);
  checkTip(deeds, { depot, base, tip });

  checkDepot(stage.home, deeds.known());
  const saves = [...deeds.saves()];
  const reachable = new Set(plainGit(depot, 'rev-list', '--all').split('\n'));
  expect(saves.filter((commit) => !reachable.has(commit))).toEqual([]);
  const workspaces = join(stage.home.directory, 'workspaces', teamId);
  for (const folder of [depot, ...readdirSync(workspaces).map((name) => join(workspaces, name))]) {
    expect(plainGit(folder, 'fsck', '--strict', '--full', '--no-dangling', '--no-progress'), folder).toBe('');
  }
  return { depot };
}

/** The branch has what the tasks did, notes that were written, and nothing else. */
function checkTip(deeds: Deeds, { depot, base, tip }: { depot: string; base: string; tip: string }): void {
  const tasks = Array.from({ length: deeds.created() }, (_, i) => i + 1);
  const expected = new Map<string, string>();
  for (const line of listTree(depot, base)) expected.set(line.path, line.id);
  for (const task of tasks) {
    for (const [path, content] of Object.entries(filesOf(task))) expected.set(path, blobId(content));
  }
  const text = plainGit(depot, 'show', `${base}:lines.txt`).split('\n');
  for (const task of tasks) text[task * 3 - 1] = `line ${task * 3} by task ${task}`;
  expected.set('lines.txt', blobId(`${text.join('\n')}\n`));
  for (const task of tasks) {
    const lock = lockOf(task);
    if (lock !== undefined) expected.set(lock, blobId(`${task}\n`));
  }
  const notes = new Map(deeds.written().map(({ path, content }) => [path, blobId(content)]));
  const found = listTree(depot, tip).filter(({ path, id }) => notes.get(path) !== id);
  expect(Object.fromEntries(found.map(({ path, id }) => [path, id]))).toEqual(Object.fromEntries(expected));
}

function listTree(depot: string, commit: string): { path: string; id: string }[] {
  const lines = plainGit(depot, 'ls-tree', '-r', '--format=%(objectname) %(path)', commit).split('\n');
  return lines.map((line) => ({ id: line.slice(0, 40), path: line.slice(41) }));
}

/** After the team is deleted and the depot is pruned: no folder is left, and what people saved is still there. */
export function checkEnd(deeds: Deeds, depot: string): void {
  const { stage, teamId } = deeds;
  const { home } = stage;
  const rest = ['workspaces', 'indexes'].flatMap((name) => {
    const folder = join(home.directory, name, teamId);
    return existsSync(folder) ? Object.keys(contents(folder)) : [];
  });
  expect(rest).toEqual([]);
  expect(readdirSync(join(home.directory, 'workspaces/.making'))).toEqual([]);
  expect(plainGit(depot, 'fsck', '--strict', '--full', '--no-dangling', '--no-progress')).toBe('');
  const facts = deeds.events().filter(({ type }) => /^work:|^teammate:stopped/.test(type));
  checkDepot(home, deeds.known(), facts.map((fact) => JSON.stringify(fact)).join('\n'));
}
