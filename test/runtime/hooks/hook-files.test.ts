import { chmodSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  contentOf,
  FILES,
  filesNamed,
  filesOfCommand,
  filesOfHook,
  filesOfSetup,
  isFolder,
  isWithin,
  scriptsOf,
} from '../../../src/runtime/hooks/hook-files.ts';
import { filesRunBy } from '../../../src/runtime/hooks/run-files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** A folder with these files; a name with a star can be executed. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name.replace('*', ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (name.endsWith('*')) chmodSync(path, 0o755);
  }
  return folder;
}

const named = (folder: string, files: Iterable<string>): string[] => [...files].map((path) => relative(folder, path));

describe('the files of a hook', () => {
  const ofHook = (folder: string, command: string, executor: 'shell' | 'node' = 'shell'): string[] =>
    named(folder, filesOfHook({ command, executor }, folder).keys());

  test.each<[string, Record<string, string>, string, string[]]>([
    ['what it writes is none', { 'a.sh': '', 'out.txt': '' }, './a.sh > out.txt', ['a.sh']],
    ['what it appends to is none', { 'a.sh': '', 'out.txt': '' }, './a.sh >>out.txt', ['a.sh']],
    ['a folder is none', { 'a.sh': '', 'src/x': '' }, './a.sh src', ['a.sh']],
    ['what it reads is one', { 'in.txt': '' }, 'check < in.txt', ['in.txt']],
    ['in a folder that it names', { 'checks/a.sh': '', 'a.txt': '' }, 'cd checks && ./a.sh', ['checks/a.sh']],
    [
      'a Python package',
      { 'a.py': 'from .rules import x', 'rules/__init__.py': '' },
      'python3 a.py',
      ['a.py', 'rules/__init__.py'],
    ],
    ['a text imports nothing', { 'a.txt': `import './b.js'`, 'b.js': '' }, 'check a.txt', ['a.txt']],
    ['an import without its ending', { 'a.ts': `import './b'`, 'b.ts': '' }, 'node a.ts', ['a.ts', 'b.ts']],
    [
      'imports with any ending',
      {
        'a.js': `import './b'; import './c'; import './d'; import './e'`,
        'b.js': '',
        'c.mjs': '',
        'd.cjs': '',
        'e/index.js': '',
      },
      'node a.js',
      ['a.js', 'b.js', 'c.mjs', 'd.cjs', 'e/index.js'],
    ],
    [
      'modules that import each other',
      { 'a.js': `import './b.js'`, 'b.js': `import './a.js'` },
      'node a.js',
      ['a.js', 'b.js'],
    ],
    ['a script that a module names', { 'a.js': 'run("lib.sh")', 'lib.sh': '' }, 'node a.js', ['a.js', 'lib.sh']],
    ['require', { 'a.cjs': `require('./b.cjs')`, 'b.cjs': '' }, 'node a.cjs', ['a.cjs', 'b.cjs']],
    [
      'an import of the folder above',
      { 'x/a.mjs': `import '../b.mjs'`, 'b.mjs': '' },
      'node x/a.mjs',
      ['x/a.mjs', 'b.mjs'],
    ],
    ['a program beside a script', { 'a.sh': 'b.txt c', 'b.txt': '', 'c*': '' }, 'sh a.sh', ['a.sh', 'c']],
    ['a script with a first line', { a: '#!/bin/sh\nb.sh', 'b.sh': '' }, 'sh a', ['a', 'b.sh']],
    ['a script that runs a package', { 'a.sh': 'npm test', 'package.json': '{}' }, 'sh a.sh', ['a.sh', 'package.json']],
    ['a module runs no package', { 'a.js': 'npm test', 'package.json': '{}' }, 'node a.js', ['a.js']],
    ['just', { justfile: '', Makefile: '' }, 'just check', ['justfile']],
    ['a runner without a package', { Makefile: '' }, 'npm test', []],
  ])('%s', (_what, files, command, expected) => {
    expect(ofHook(folderWith(files), command)).toEqual(expected);
  });

  test('a module has no runners: its command is one path', () => {
    const folder = folderWith({ npm: 'x', 'package.json': '{}' });
    expect(ofHook(folder, 'npm', 'node')).toEqual(['npm']);
    expect(ofHook(folder, 'npm', 'shell')).toEqual(['npm', 'package.json']);
  });

  test('a large file belongs to it, but is not searched for names', () => {
    const folder = folderWith({ 'a.js': `import './b.js';`, 'b.js': '' });
    expect(ofHook(folder, 'node a.js')).toEqual(['a.js', 'b.js']);
    truncateSync(join(folder, 'a.js'), 1024 * 1024);
    expect(ofHook(folder, 'node a.js')).toEqual(['a.js', 'b.js']);
    truncateSync(join(folder, 'a.js'), 1024 * 1024 + 1);
    expect(ofHook(folder, 'node a.js')).toEqual(['a.js']);
  });

  test('there are at most so many', () => {
    const names = Array.from({ length: FILES + 3 }, (_, index) => `f${index}.txt`);
    const folder = folderWith(Object.fromEntries(names.map((name) => [name, ''])));
    expect(ofHook(folder, `check ${names.join(' ')}`)).toEqual(names.slice(0, FILES));
  });

  test('have the content that decides: of a package its scripts', () => {
    const folder = folderWith({ 'package.json': '{"version":"1","scripts":{"test":"true"}}' });
    const files = filesOfHook({ command: 'npm test', executor: 'shell' }, folder);
    expect([...files.values()]).toEqual(['{"test":"true"}']);
    expect(scriptsOf(Buffer.from('{}'))).toBe('{}');
    expect(scriptsOf(Buffer.from('no JSON'))).toBe('no JSON');
    expect(scriptsOf(undefined)).toBeUndefined();
  });
});

describe('the files of a command', () => {
  const of = (command: string[], { folder, isOwn }: { folder: string; isOwn: boolean }): string[] =>
    named(folder, filesOfCommand(command, { cwd: folder, folder, isOwn }).keys());

  test("an absolute path outside of the checkout is the machine's, one in it is not", () => {
    const [folder, machine] = [folderWith({ 'a.sh': '' }), folderWith({ 'b.sh': '' })];
    expect(of([join(machine, 'b.sh'), join(folder, 'a.sh')], { folder, isOwn: false })).toEqual(['a.sh']);
  });

  test('a relative path outside of the checkout is part of it, and so are the scripts of a package', () => {
    const folder = folderWith({ 'sub/a.sh': '', 'b.sh': '', 'sub/package.json': '{}' });
    const sub = join(folder, 'sub');
    const files = filesOfCommand(['../b.sh', 'npm', 'test'], { cwd: sub, folder: sub, isOwn: false });
    expect(named(folder, files.keys())).toEqual(['b.sh', 'sub/package.json']);
  });

  test("what the user's own program reads is its work; programs are not", () => {
    const folder = folderWith({ 'a.txt': '', 'b.sh': '' });
    expect(of(['check a.txt', 'b.sh'], { folder, isOwn: false })).toEqual(['a.txt', 'b.sh']);
    expect(of(['check a.txt', 'b.sh'], { folder, isOwn: true })).toEqual(['b.sh']);
  });

  test('of a setup are programs, not what it copies', () => {
    const folder = folderWith({ '.env.example': '', 'setup.sh': '', 'tool*': '', 'package.json': '{}' });
    const files = filesOfSetup('cp .env.example .env; ./setup.sh; ./tool; npm ci', folder);
    expect(named(folder, files.keys())).toEqual(['setup.sh', 'tool', 'package.json']);
  });

  test('by name are those that exist, in any of the folders', () => {
    const [one, other] = [folderWith({ a: '1' }), folderWith({ a: '2', b: '3' })];
    const found = filesNamed(['a', 'b'], [one, other]);
    expect([...found].map(([path, content]) => [path, content.toString()])).toEqual([
      [join(one, 'a'), '1'],
      [join(other, 'a'), '2'],
      [join(other, 'b'), '3'],
    ]);
  });
});

describe('the files that a command runs', () => {
  const runBy = (folder: string, ...command: string[]): string[] =>
    named(folder, filesRunBy(command, { cwd: folder, folder }));

  test.each<[string, Record<string, string>, string[], string[]]>([
    ['no package, unless it is run', { 'a.js': '', 'package.json': '' }, ['node', 'a.js'], ['a.js']],
    ['of an interpreter in quotes', { 'a.js': '' }, ['"node"', 'a.js'], ['a.js']],
    ['scripts that run each other', { 'a.sh': 'sh b.sh', 'b.sh': 'sh a.sh' }, ['sh', 'a.sh'], ['a.sh', 'b.sh']],
    ['of an interpreter', { 'a.js': '', 'b.js': '' }, ['node', 'a.js', 'b.js'], ['a.js']],
    ['after its options', { 'a.js': '' }, ['node', '--test', 'a.js'], ['a.js']],
    ['of an interpreter by its path', { 'a.py': '' }, ['/usr/bin/python3.12', 'a.py'], ['a.py']],
    ['of another program: none', { 'a.js': '' }, ['cat', 'a.js'], []],
    ['a program', { 'tool*': '', read: '' }, ['./tool', 'read'], ['tool']],
    ['in one word', { 'a.sh': '' }, ['sh -c "sh a.sh"'], ['a.sh']],
    [
      'of a script, by its place and beside it',
      { 'x/a.sh': 'sh x/b.sh; sh c.sh', 'x/b.sh': '', 'x/c.sh': '' },
      ['sh', 'x/a.sh'],
      ['x/a.sh', 'x/b.sh', 'x/c.sh'],
    ],
    ['of a script by its first line', { a: '#!/usr/bin/env bash\nsh b.sh', 'b.sh': '' }, ['sh', 'a'], ['a', 'b.sh']],
    ['a module imports, it does not run', { 'a.js': 'sh b.sh', 'b.sh': '' }, ['node', 'a.js'], ['a.js']],
    [
      'the scripts of a package',
      { 'package.json': '{"scripts":{"x":"sh b.sh"}}', 'b.sh': '' },
      ['npm', 'run', 'x'],
      ['package.json', 'b.sh'],
    ],
    ['the rules of make', { Makefile: 'x', makefile: 'y' }, ['make'], ['makefile', 'Makefile']],
  ])('%s', (_what, files, command, expected) => {
    const texts = Object.entries(files).map(([name, content]) => [name, content || ' ']);
    expect(runBy(folderWith(Object.fromEntries(texts) as Record<string, string>), ...command)).toEqual(expected);
  });

  test('are of the folder alone, and none is a folder', () => {
    const [folder, other] = [folderWith({ 'a.sh': 'x', 'sub/b': 'x' }), folderWith({ 'c.sh': 'x' })];
    expect(runBy(folder, 'sh', join(other, 'c.sh'), 'sh', join(folder, 'a.sh'), 'sh', 'sub')).toEqual(['a.sh']);
  });
});

test('there are at most so many that a command runs, and none stays open', () => {
  const names = Array.from({ length: FILES + 3 }, (_, index) => `f${index}.sh`);
  const folder = folderWith(Object.fromEntries(names.map((name) => [name, 'x'])));
  const open = (): number => readdirSync('/dev/fd').length;
  const before = open();
  const found = filesRunBy(
    names.flatMap((name) => ['sh', name]),
    { cwd: folder, folder },
  );
  expect(named(folder, found)).toEqual(names.slice(0, FILES));
  filesOfSetup(names.join(' '), folder);
  expect(open()).toBe(before);
});

test('a path is within a folder if it is the folder, or below it', () => {
  expect(['/a/b', '/a/b/c', '/a/b/..c', '/a', '/a/bc', '/'].map((path) => isWithin('/a/b', path))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('a folder has no content, and what is missing is neither', () => {
  const folder = folderWith({ a: 'x' });
  expect([folder, join(folder, 'a'), join(folder, 'b')].map(isFolder)).toEqual([true, false, false]);
  expect([folder, join(folder, 'a'), join(folder, 'b')].map((path) => contentOf(path)?.toString())).toEqual([
    undefined,
    'x',
    undefined,
  ]);
});
