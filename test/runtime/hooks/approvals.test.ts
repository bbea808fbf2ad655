import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HookConfig } from '../../../src/core/hook.ts';
import { hashHook } from '../../../src/runtime/hooks/approvals.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { setStage } from './stage.ts';

describe('approval', () => {
  test('is for the content: a script that changed does not run until it is approved again', async () => {
    const stage = await setStage();
    const script = join(stage.folder, 'gate.sh');
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    chmodSync(script, 0o755);
    const approved = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    const hook = { command: './gate.sh', approved, onFailure: 'block' as const };
    expect(stage.hooks.unapproved([stage.config(hook)])).toMatchObject([{ hash: approved, changed: false }]);
    stage.hooks.approve([stage.config(hook)]);
    expect(stage.hooks.unapproved([stage.config(hook)])).toEqual([]);
    expect(await stage.judge(hook)).toMatchObject({ exitCode: 0 });
    writeFileSync(script, '#!/bin/sh\ntouch canary\nexit 0\n');
    expect(await stage.judge(hook)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('changed since it was approved'),
    });
    expect(existsSync(join(stage.folder, 'canary'))).toBe(false);
    const now = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    expect(stage.hooks.unapproved([stage.config({ ...hook, approved: now })])).toMatchObject([
      { hash: now, folder: stage.folder, files: [script], changed: true, changedFiles: [script] },
    ]);
    stage.hooks.approve([stage.config({ ...hook, approved: now })]);
    expect(await stage.judge(hook)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(stage.folder, 'canary'))).toBe(true);
  });

  test('differs for another command, another folder, another content', () => {
    const [one, other] = [temporaryFolder(), temporaryFolder()];
    for (const folder of [one, other]) writeFileSync(join(folder, 'gate.js'), 'one');
    const hash = (command: string, folder: string, more: object = {}): string =>
      hashHook({ command, executor: 'shell', ...more }, folder);
    const hashes = [hash('node gate.js', one), hash('node gate.js --x', one), hash('node gate.js', other)];
    writeFileSync(join(one, 'gate.js'), 'two');
    hashes.push(hash('node gate.js', one), hash('node gate.js', one, { env: ['AWS_SECRET'] }));
    hashes.push(hash('node gate.js', one, { executor: 'node' }));
    expect(new Set(hashes).size).toBe(6);
  });

  test('holds in a workspace of the project, also on a machine that lacks the folder', () => {
    const [project, workspace] = [temporaryFolder(), temporaryFolder()];
    for (const folder of [project, workspace]) writeFileSync(join(folder, 'gate.js'), 'one');
    const hook = { command: 'node gate.js', executor: 'shell' } as const;
    const approvedIn = join(temporaryFolder(), 'link');
    symlinkSync(project, approvedIn);
    const approved = hashHook(hook, approvedIn);
    expect(hashHook(hook, workspace, { approvedIn })).toBe(approved);
    const realName = realpathSync(project);
    rmSync(approvedIn);
    rmSync(project, { recursive: true });
    expect(hashHook(hook, workspace, { approvedIn, realName })).toBe(approved);
    writeFileSync(join(workspace, 'gate.js'), 'two');
    expect(hashHook(hook, workspace, { approvedIn, realName })).not.toBe(approved);
  });

  test.each([
    ['a script in a folder that the command goes to', 'cd checks && ./gate.sh', 'checks/gate.sh'],
    ['what a script names beside itself', './run.sh', 'beside.sh'],
    ['a module that a module imports', 'node gate.js', 'lib/rules.mjs'],
    ['a module that a Python program imports', 'python3 gate.py', 'rules.py'],
    ['the scripts of a package', 'npm test', 'package.json'],
    ['the rules of make', 'make check', 'Makefile'],
    ['the configuration that the command names', 'lint --config=strict.json src', 'strict.json'],
    ['a program that the command pretends to write', 'lint --output run.sh', 'run.sh'],
  ])('F43: is invalid after a change of %s', (_what, command, file) => {
    const folder = checkout();
    const before = hashHook({ command, executor: 'shell' }, folder);
    writeFileSync(join(folder, file), '{"scripts":{"test":"true"}}');
    expect(hashHook({ command, executor: 'shell' }, folder)).not.toBe(before);
  });

  test.each([
    ['./run.sh', 'src/work.js'],
    ['node gate.js', 'src/work.js'],
    ['npm test', 'src/work.js'],
    ['./run.sh > report.txt', 'report.txt'],
    ['./run.sh --junitxml=report.txt', 'report.txt'],
    ['./run.sh --outputFile report.txt -o other.txt', 'report.txt'],
    ['./run.sh --outputFile report.txt -o other.txt', 'other.txt'],
    ['./run.sh 2>&1 || exit 2', '2'],
    ['[ -e mark ] || { touch mark; exit 2; }', 'mark'],
  ])('of %s stays valid after a change of the work that it judges: %s', (command, file) => {
    const folder = checkout();
    const before = hashHook({ command, executor: 'shell' }, folder);
    writeFileSync(join(folder, file), 'changed');
    expect(hashHook({ command, executor: 'shell' }, folder)).toBe(before);
  });

  test('F43: a script that is rewritten while it runs gives no verdict', async () => {
    const stage = await setStage();
    const script = join(stage.folder, 'gate.sh');
    writeFileSync(script, '#!/bin/sh\ntouch running\nwhile ! test -e go; do sleep 0.02; done\nexit 2\n');
    chmodSync(script, 0o755);
    const approved = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    const verdict = stage.judge({ command: './gate.sh', approved, onFailure: 'block' });
    await until('it runs', () => existsSync(join(stage.folder, 'running')));
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    writeFileSync(join(stage.folder, 'go'), '');
    expect(await verdict).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('changed while it ran') });
  });

  test.each<[string, (folder: string) => void, RegExp]>([
    [
      'changed',
      (folder) => writeFileSync(join(folder, 'gate.sh'), '#!/bin/sh\nexit 0\n'),
      /approved \(gate\.sh\) and was/,
    ],
    ['removed', (folder) => rmSync(join(folder, 'gate.sh')), /gate\.sh does not exist/],
  ])('a gate that a member %s judges nothing, and lets no work pass: a person is asked', async (_how, tamper, why) => {
    const stage = await setStage();
    await stage.task();
    writeFileSync(join(stage.folder, 'gate.sh'), '#!/bin/sh\nexit 2\n');
    chmodSync(join(stage.folder, 'gate.sh'), 0o755);
    const approved = hashHook({ command: './gate.sh', executor: 'shell' }, stage.folder);
    const hook = { command: './gate.sh', approved, onFailure: 'allow' as const };
    stage.hooks.approve([stage.config(hook)]);
    await stage.register(hook);
    tamper(stage.folder);
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toMatchObject({ code: 'gate_rejected' });
    const asked = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
    expect(asked).toMatchObject([{ kind: 'gate', status: 'pending', content: expect.stringMatching(why) }]);
  });

  test('a gate that writes what its command reads says so, and lets no work pass', async () => {
    const stage = await setStage();
    const command = 'f=mark; [ -e mark ] || { echo > $f; exit 2; }';
    const approved = hashHook({ command, executor: 'shell' }, stage.folder);
    const result = await stage.judge({ command, approved });
    expect(result).toMatchObject({
      exitCode: 2,
      unable: expect.stringMatching(/ran \(mark\), .* outside of the project$/),
    });
  });

  test('of several files, those are named that changed: since the approval, and while it ran', async () => {
    const stage = await setStage();
    for (const name of ['gate.sh', 'rules.sh']) writeFileSync(join(stage.folder, name), '#!/bin/sh\nexit 0\n');
    const command = 'sh gate.sh && sh rules.sh';
    const hook = { command, approved: hashHook({ command, executor: 'shell' }, stage.folder) };
    stage.hooks.approve([stage.config(hook), stage.config({ command: 'true' })]);
    writeFileSync(join(stage.folder, 'rules.sh'), 'echo >> rules.sh\n');
    expect(await stage.judge(hook)).toMatchObject({
      unable: expect.stringContaining('changed since it was approved (rules.sh) and was not run'),
      exitCode: 2,
    });
    const approved = hashHook({ command, executor: 'shell' }, stage.folder);
    const [asked] = stage.hooks.unapproved([stage.config({ ...hook, approved })]);
    expect(asked?.changedFiles).toEqual([join(stage.folder, 'rules.sh')]);
    const result = await stage.judge({ command, approved });
    expect(result).toMatchObject({ exitCode: 2, unable: expect.stringContaining('changed while it ran (rules.sh)') });
  });

  test('hooks cannot ask for variables that would run code in every program', () => {
    for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'BASH_ENV', 'PYTHONSTARTUP']) {
      expect(() => HookConfig.parse({ type: 'TaskCompleted', command: 'true', env: [name] })).toThrow('would run code');
    }
  });

  /** Gates of all kinds, and the work that they judge. */
  function checkout(): string {
    const folder = temporaryFolder();
    for (const name of ['checks', 'lib', 'src']) mkdirSync(join(folder, name));
    const files = {
      'checks/gate.sh': '#!/bin/sh\nexit 0\n',
      'run.sh': '#!/bin/sh\n. "$(dirname "$0")/beside.sh"\nnode src/work.js && grep -q done report.txt\n',
      'beside.sh': 'check() { true; }\n',
      'gate.js': `import { judge } from './lib/rules.mjs';\njudge('src/work.js');\n`,
      'lib/rules.mjs': 'export const judge = () => {};\n',
      'gate.py': 'import rules\nrules.judge()\n',
      'rules.py': 'def judge(): pass\n',
      'package.json': '{"version":"1.0.0","scripts":{"test":"node --test"}}',
      Makefile: 'check:\n\ttrue\n',
      'strict.json': '{"strict":true}',
      'src/work.js': 'done',
      'report.txt': 'done',
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    chmodSync(join(folder, 'run.sh'), 0o755);
    return folder;
  }
});
