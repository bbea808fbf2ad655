import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPages } from '../../src/server/pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('reads the files of the dashboard when a page is first asked for, and all of them at once', () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const textAt = (path: string): string | undefined => {
    const page = pages.find(path, false);
    return page && Buffer.from(page.body).toString();
  };
  const pages = openPages(folder);
  mkdirSync(join(folder, 'assets'));
  write('index.html', 'the page');
  write('assets/first.js', 'its program');

  expect(textAt('/api/operations')).toBeUndefined();
  expect(textAt('/queue')).toBe('the page');
  write('assets/later.js', 'of another version');
  write('assets/first.js', 'of another version');
  expect([textAt('/'), textAt('/assets/first.js'), textAt('/assets/later.js')]).toEqual([
    'the page',
    'its program',
    undefined,
  ]);
});
