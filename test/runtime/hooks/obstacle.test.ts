import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { setStage } from './stage.ts';

describe('a gate that cannot run', () => {
  test.each<[string, { command: string; executor?: 'node' }, RegExp]>([
    [
      'is missing',
      { command: './gone.sh --strict' },
      /"\.\/gone\.sh --strict" cannot be run: \.\/gone\.sh does not exist: put it into/,
    ],
    ['may not be executed', { command: './plain.txt' }, /chmod \+x \/.*\/plain\.txt/],
    ['is a script that is missing', { command: 'sh gone.sh' }, /gone\.sh does not exist/],
    ['is a module that is missing', { command: 'gone.js', executor: 'node' }, /gone\.js does not exist/],
    ['is found missing by the shell', { command: 'cd . && ./gone.sh' }, /the shell reports: .*gone\.sh: .*[nN]o/],
    ['is a folder', { command: './folder' }, /\.\/folder is not a file/],
  ])('because it %s goes to a person at once, and counts as no rejection', async (_what, hook, why) => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'plain.txt'), 'exit 0');
    mkdirSync(join(stage.folder, 'folder'));
    await stage.task();
    await stage.register({ ...hook, onFailure: 'block' });
    for (const result of ['my work', 'my work, once more']) {
      await expect(stage.tasks.completeTask('demo', '1', 'worker', { result })).rejects.toMatchObject({
        code: 'gate_rejected',
        message: expect.stringMatching(/A person was asked\. The work needs no change$/),
      });
    }
    expect(await stage.tasks.getTask('demo', '1')).toMatchObject({ status: 'in_progress', rejections: 0 });
    const asked = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
    expect(asked).toMatchObject([
      { kind: 'gate', memberId: 'worker', taskId: '1', status: 'pending', content: expect.stringMatching(why) },
    ]);
    expect(asked[0]?.content).toContain('Yes completes the task without the gate.');
  });

  test('because it changed since its approval goes to a person, with how to approve it again', async () => {
    const stage = await setStage();
    await stage.task();
    await stage.register({ command: 'true', approved: 'another content', onFailure: 'block' });
    await expect(stage.tasks.completeTask('demo', '1', 'worker')).rejects.toMatchObject({ code: 'gate_rejected' });
    const [asked] = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
    expect(asked?.content).toContain(`then run troupe up in ${stage.folder} to approve it again`);
    expect(await stage.tasks.getTask('demo', '1')).toMatchObject({ rejections: 0 });
  });

  test('differs from one whose own tools are missing, because the work may provide these', async () => {
    const stage = await setStage();
    writeFileSync(join(stage.folder, 'gate.sh'), '#!/bin/sh\nno-such-tool\n');
    chmodSync(join(stage.folder, 'gate.sh'), 0o755);
    const result = await stage.judge({ command: './gate.sh', onFailure: 'block' });
    expect(result).toMatchObject({
      exitCode: 2,
      code: 127,
      stderr: expect.stringContaining('ended with exit code 127'),
    });
    expect(result.unable).toBeUndefined();
  });

  test('does not keep a member at work', async () => {
    const stage = await setStage();
    const hook = { type: 'TeammateIdle', cwd: stage.folder, onFailure: 'block' } as const;
    await stage.hooks.registerHook('demo', { ...hook, command: './gone.sh' });
    expect(await stage.mailbox.notifyIdle('demo', 'worker')).toBe(true);
  });
});
