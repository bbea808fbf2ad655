import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWritable, removeFolder, removeFolders } from '../../src/workspaces/remove-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { write } from './project.ts';

test('a folder goes, however deep it is', async () => {
  const root = temporaryFolder();
  const part = 'd'.repeat(250);
  const script = `for (let i = 0; i < 40; i++) { fs.mkdirSync('${part}'); process.chdir('${part}'); fs.writeFileSync('x', ''); }`;
  write(root, { 'one/short/x': '', 'two/x': '' });
  execFileSync(process.execPath, ['-e', script], { cwd: join(root, 'one') });
  await removeFolders([join(root, 'one'), join(root, 'nothing'), join(root, 'two')]);
  expect(['one', 'two'].map((name) => existsSync(join(root, name)))).toEqual([false, false]);
  await removeFolder(join(root, 'nothing'));
});

test('only a folder that its owner may not write is made writable', async () => {
  const root = temporaryFolder();
  write(root, { file: '' });
  mkdirSync(join(root, 'folder'));
  symlinkSync('folder', join(root, 'link'));
  chmodSync(join(root, 'file'), 0o444);
  chmodSync(join(root, 'folder'), 0o555);
  const tried = await Promise.all(['file', 'link', 'nothing'].map((name) => makeWritable(join(root, name))));
  expect(tried).toEqual([false, false, false]);
  expect(statSync(join(root, 'folder')).mode & 0o777).toBe(0o555);
  expect(await makeWritable(join(root, 'folder'))).toBe(true);
  expect(statSync(join(root, 'folder')).mode & 0o777).toBe(0o755);
  expect(await makeWritable(join(root, 'folder'))).toBe(false);
});

test('what cannot be removed is said with what to do, after all others are gone', async () => {
  const root = temporaryFolder();
  write(root, { 'one/x': '', 'two/x': '', file: '' });
  // Below a file nothing can be.
  const odd = join(root, 'file', "it's");
  await expect(removeFolders([join(root, 'one'), odd, join(root, 'two')])).rejects.toMatchObject({
    code: 'not_allowed',
    message: expect.stringMatching(
      /file\/it's cannot be removed: .*\. A container or another user may own files in it\. Remove it yourself: sudo rm -rf '.*it'\\''s'$/,
    ),
  });
  expect(['one', 'two'].map((name) => existsSync(join(root, name)))).toEqual([false, false]);
});
