import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../../src/client/client.ts';
import type { CallError } from '../../../src/client/errors.ts';

/**
 * What a gate of these tests asks: no item is bad, and two sides of a pair have what joins them. It waits a little if the
 * daemon runs it, so that something can happen meanwhile.
 */
export const GATE = `#!/bin/sh
[ -z "$TROUPE_TEAM_ID" ] || sleep 0.1
grep -qs bad items/* && { echo "an item is bad" >&2; exit 2; }
for left in items/left-*; do
  k=\${left#items/left-}
  [ -e "$left" ] && [ -e "items/right-$k" ] && [ ! -e "items/both-$k" ] || continue
  echo "the pair $k is not joined" >&2
  exit 2
done
exit 0
`;

/** What a task is about, by its number: of six, one is bad at first, two conflict, two fit only with a third file. */
type Kind = 'bad' | 'line' | 'left' | 'right' | 'plain';

const KINDS: readonly Kind[] = ['plain', 'bad', 'line', 'line', 'left', 'right'];

export function kindOf(task: number): Kind {
  return KINDS[task % KINDS.length] ?? 'plain';
}

/** Left and right of a pair are neighbours. */
export function pairOf(task: number): number {
  return Math.floor(task / KINDS.length);
}

/** A member without an agent: claims tasks, changes files, hands in, and mends what goes back, until nothing is left. */
export async function workAs(
  client: Client,
  { teamId, name, isOver }: { teamId: string; name: string; isOver: () => boolean },
): Promise<void> {
  const as = { as: name };
  while (!isOver()) {
    const task = await client.call('task.claim', { teamId, wait: 300 }, as);
    if (!task) continue;
    const { id: taskId, epoch } = task;
    await client.call('work.begin', { teamId, memberId: name, taskId, epoch }, as);
    const opened = await client.call('work.open', { teamId, memberId: name }, as);
    const folder = opened?.folder ?? '';
    edit(folder, Number(taskId));
    for (let isDone = false; !isDone;) {
      try {
        await client.call('task.complete', { teamId, taskId, epoch, result: `did ${taskId}` }, as);
        isDone = true;
      } catch (error) {
        const { code, message } = error as CallError;
        if (code !== 'gate_rejected') throw error;
        mend(folder, Number(taskId), message);
      }
    }
  }
}

function edit(folder: string, task: number): void {
  mkdirSync(join(folder, 'items'), { recursive: true });
  const kind = kindOf(task);
  put(folder, String(task), kind === 'bad' ? 'bad' : 'good');
  if (kind === 'left' || kind === 'right') put(folder, `${kind}-${pairOf(task)}`, String(task));
  if (kind === 'line') {
    const path = join(folder, 'lines.txt');
    const text = readFileSync(path, 'utf8');
    if (!text.includes(lineOf(task))) writeFileSync(path, text.replace('last\n', `${lineOf(task)}last\n`));
  }
}

function mend(folder: string, task: number, why: string): void {
  put(folder, String(task), 'good');
  for (const [, pair] of why.matchAll(/the pair (\d+) is not joined/g)) put(folder, `both-${pair}`, 'joined');
  const path = join(folder, 'lines.txt');
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  // Both sides stay, what both began from goes.
  const both = text.replaceAll(/^\|{7} [^]*?^={7}\n/gm, '').replaceAll(/^(<{7}|>{7}) .*\n/gm, '');
  if (both !== text) writeFileSync(path, both);
}

function put(folder: string, item: string, content: string): void {
  writeFileSync(join(folder, 'items', item), `${content}\n`);
}

/** The line that a task of the kind `line` adds. */
export function lineOf(task: number): string {
  return `by task ${task}\n`;
}
