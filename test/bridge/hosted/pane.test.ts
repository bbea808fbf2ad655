import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openPane } from '../../../src/bridge/hosted/pane.ts';
import type { Pane } from '../../../src/bridge/hosted/pane.ts';

test('the end of a program is reported with its reason, which its terminal knows a moment later', async () => {
  const looks = [undefined, undefined, 'was ended by SIGKILL'];
  const pane = await openWith(() => looks.shift());
  expect(await pane.ending()).toBeUndefined();
  process.kill(pane.screen.pid, 'SIGKILL');
  await expect.poll(() => pane.ending()).toBe('a-program was ended by SIGKILL');
  expect(looks).toEqual([]);
});

test('the end of a program is reported even if its terminal never gives a reason', async () => {
  const pane = await openWith(() => undefined);
  process.kill(pane.screen.pid, 'SIGKILL');
  await expect.poll(() => pane.ending()).toBe('a-program is gone');
});

test('a terminal that is too busy to notice the end of its program gets more time', async () => {
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line);
  onTestFinished(() => void parent.kill('SIGKILL'));
  // Before that it is still the shell, which would notice the end of its child.
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/cmdline`, 'latin1')).toMatch(/^sleep/);
  const pane = await openOn(pid, () => undefined);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z');
  for (let look = 0; look < 50; look++) expect(await pane.ending()).toBeUndefined();
  parent.kill('SIGKILL');
  await expect.poll(() => pane.ending()).toBe('a-program is gone');
});

/** A running program, in a terminal that reports its end like this. */
async function openWith(ending: () => string | undefined): Promise<Pane> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return openOn(child.pid as number, ending);
}

function openOn(pid: number, ending: () => string | undefined): Promise<Pane> {
  const screen = {
    pane: '%1',
    pid,
    holderPid: process.pid,
    text: async () => '',
    pressEscape: async () => {},
    ending: async () => ending(),
    close: async () => {},
  };
  return openPane(async () => screen, { command: ['a-program'], cwd: '/', env: {}, socket: '/nowhere' });
}
