import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentNamed } from '../../src/core/agent-kinds.ts';
import { argvOf } from '../../src/core/shell.ts';
import { requireAllRunnable, requireRunnable } from '../../src/teammate/runnable.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const EMPTY = { PATH: '/nowhere' };

test('an agent that is not installed is refused with instructions to install it', () => {
  expect(() => requireRunnable({ spec: agentNamed('codex'), cwd: '/' }, EMPTY)).toThrow(
    /Cannot run codex in \/: it is not on the PATH; npm install -g @openai\/codex; .* troupe stop/,
  );
  // Without a folder the message names none.
  expect(() => requireRunnable({ spec: agentNamed('codex'), cwd: undefined }, EMPTY)).toThrow(
    'Cannot run codex: it is not on the PATH;',
  );
  expect(() => requireRunnable({ spec: agentNamed('gemini'), cwd: '/' })).not.toThrow();
});

test('problems of several agents are reported together, and common advice once', () => {
  const wanted = ['codex', 'gemini', 'codex', 'clade'].map((name) => ({ spec: agentNamed(name), cwd: '/' }));
  expect(() => requireAllRunnable(wanted, EMPTY)).toThrow(
    /^Cannot run codex in \/: [^;]*; npm install -g @openai\/codex\nCannot run gemini in \/: [^;]*; npm install [^;]*\nThere is no agent named "clade": .*\nIf your shell finds them, .*$/,
  );
  expect(() => requireAllRunnable(wanted.slice(0, 1), EMPTY)).toThrow(/^Cannot run codex .*; if your shell finds it/);
  expect(() => requireAllRunnable(wanted.slice(0, 3))).not.toThrow();
});

test('an unknown name is refused with a suggestion', () => {
  expect(() => requireRunnable({ spec: agentNamed('clade'), cwd: '/' }, EMPTY)).toThrow(
    'There is no agent named "clade": did you mean claude? An agent of your own that speaks ACP needs its command: agent: { acp:',
  );
  expect(() => requireRunnable({ spec: agentNamed('zzz'), cwd: '/' })).toThrow(
    /choose one of claude, claude-native, codex, gemini.*\. An agent of your own that speaks ACP/,
  );
});

test('the row in the catalog decides what else an agent needs', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'claude'), '#!/bin/sh\n', { mode: 0o755 });
  const native = { spec: agentNamed('claude-native'), cwd: '/' };
  expect(() => requireRunnable(native, { PATH: folder })).toThrow(
    'Cannot run tmux in /: it is not on the PATH; install tmux, in which it runs; or use claude, which needs none',
  );
  writeFileSync(join(folder, 'tmux'), '#!/bin/sh\n', { mode: 0o755 });
  expect(() => requireRunnable(native, { PATH: folder })).not.toThrow();
});

test('a program is searched as its member would find it', () => {
  const folder = temporaryFolder();
  const program = join(folder, 'claude');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const claude = agentNamed('claude');
  expect(() => requireRunnable({ spec: claude, cwd: '/' }, { PATH: folder })).not.toThrow();
  expect(() => requireRunnable({ spec: { ...claude, env: { PATH: folder } }, cwd: '/' }, EMPTY)).not.toThrow();
  expect(() => requireRunnable({ spec: { ...claude, command: ['./claude'] }, cwd: folder }, EMPTY)).not.toThrow();
  expect(() => requireRunnable({ spec: { ...claude, command: ['./claude'] }, cwd: '/' }, EMPTY)).toThrow(
    'Cannot run ./claude in /: there is no such file',
  );
  expect(() => requireRunnable({ spec: claude, cwd: join(folder, 'gone') }, { PATH: folder })).toThrow(
    'no such folder',
  );
  expect(() => requireRunnable({ spec: claude, cwd: undefined }, { PATH: folder })).not.toThrow();
});

test.each<[string, string | string[], string | undefined]>([
  ['is missing', ['./gone.sh'], 'there is no such file'],
  ['may not be executed', ['./plain.sh'], 'it is not executable; chmod +x FOLDER/plain.sh'],
  ['is a folder', ['./folder'], 'it is not a file'],
  ['is missing, named to a shell', './gone.sh --strict', 'there is no such file'],
  ['may not be executed, named to a shell', ' ./plain.sh', 'it is not executable; chmod +x FOLDER/plain.sh'],
  ['is missing where an interpreter is to read it', 'node gone.js', 'there is no such file'],
  ['is there for an interpreter to read', 'sh plain.sh', undefined],
  ['only a shell can tell', 'cd elsewhere && ./gone.sh', undefined],
])('a script that %s', (_what, exec, why) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'plain.sh'), 'exit 0\n', { mode: 0o644 });
  mkdirSync(join(folder, 'folder'));
  const run = (): void => requireRunnable({ spec: { kind: 'exec', command: argvOf(exec) }, cwd: folder }, EMPTY);
  const said = `^Cannot run \\S+ in ${folder}: ${why?.replace('+', '\\+').replace('FOLDER', folder)}$`;
  if (why === undefined) expect(run).not.toThrow();
  else expect(run).toThrow(new RegExp(said));
});
