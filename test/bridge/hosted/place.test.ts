import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  beginWork,
  enterMember,
  hostedName,
  mendHosted,
  prepareHosted,
  removeMember,
} from '../../../src/bridge/hosted/place.ts';
import { nativePaths } from '../../../src/bridge/layout.ts';
import type { NativePaths } from '../../../src/bridge/layout.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const MARK = { home: '/nowhere', teamId: 'demo', stream: 's-1' };

async function setStage(): Promise<{ root: string; paths: NativePaths }> {
  const root = join(temporaryFolder(), 'claude');
  const paths = nativePaths(root, hostedName(MARK));
  await prepareHosted(root, paths, MARK);
  for (const name of ['alice', 'bob']) await enterMember(paths, { name, agentId: `${name}@${paths.name}` });
  return { root, paths };
}

function entriesOf(paths: NativePaths): { name: string }[] {
  return (JSON.parse(readFileSync(paths.config, 'utf8')) as { members: { name: string }[] }).members;
}

function membersOf(paths: NativePaths): string[] {
  return entriesOf(paths).map(({ name }) => name);
}

test('a member that gets work is shown as active, in its pane, even if its entry was removed', async () => {
  const { paths } = await setStage();
  const bob = { name: 'bob', agentId: `bob@${paths.name}`, tmuxPaneId: '' };
  await enterMember(paths, { name: 'bob', tmuxPaneId: '%7' });
  await beginWork(paths, bob);
  expect(entriesOf(paths).at(-1)).toMatchObject({ ...bob, tmuxPaneId: '%7', isActive: true });
  await removeMember(paths, 'bob');
  await beginWork(paths, bob);
  expect(entriesOf(paths).at(-1)).toMatchObject({ ...bob, isActive: true });
  expect(membersOf(paths)).toEqual(['team-lead', 'alice', 'bob']);
});

test.each([0, 40])('a file that a member truncated to %i bytes gets its members back', async (bytes) => {
  const { paths } = await setStage();
  const whole = readFileSync(paths.config, 'utf8');
  writeFileSync(paths.config, whole.slice(0, bytes));
  await mendHosted(paths, MARK);
  expect(readFileSync(paths.config, 'utf8')).toBe(whole);
  await removeMember(paths, 'bob');
  expect(membersOf(paths)).toEqual(['team-lead', 'alice']);
});

test('without a copy the file gets its lead back, and later members', async () => {
  const { root, paths } = await setStage();
  writeFileSync(paths.config, '');
  rmSync(join(paths.team, '.config.troupe.json'));
  await prepareHosted(root, paths, MARK);
  await enterMember(paths, { name: 'alice', agentId: `alice@${paths.name}` });
  expect(membersOf(paths)).toEqual(['team-lead', 'alice']);
});

test('the repair waits for a write under way, and keeps it', async () => {
  const { paths } = await setStage();
  const theirs = readFileSync(paths.config, 'utf8').replace('"alice"', '"alicia"');
  writeFileSync(paths.config, '');
  const mending = mendHosted(paths, MARK);
  writeFileSync(paths.config, theirs);
  await mending;
  expect(readFileSync(paths.config, 'utf8')).toBe(theirs);
  expect(statSync(join(paths.team, '.config.troupe.json')).mode & 0o777).toBe(0o600);
});
