import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentIn, EXAMPLES, makeRepository } from '../../examples/repository.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { shareDaemon } from '../e2e/stage.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';

const ROOT = join(import.meta.dirname, '../..');

type Task = ResultOf<'task.list'>[number];
type Batch = ResultOf<'event.list'>[number];

describe('the examples', () => {
  const newStage = shareDaemon();

  /** Runs the team of an example in a repository of its own, and merges what it made. */
  async function play(example: string) {
    const stage = newStage();
    const { PATH = '' } = environmentIn(stage.folder, { TROUPE_SOURCE, NODE_COMPILE_CACHE: COMPILED_CODE });
    const repo = makeRepository(example, stage.folder, { ...process.env, PATH });
    const { ended, output } = stage.start(['up', join(repo, 'troupe.yaml'), '--yes'], { PATH });
    expect(await ended, output.stdout + output.stderr).toBe(0);
    expect((await stage.troupe('merge', '--team', example)).code).toBe(0);
    const batches = await stage.ask<Batch[]>('event', 'list', '--team', example);
    return {
      tasks: await stage.ask<Task[]>('task', 'list', '--team', example),
      events: batches.flatMap(({ events }) => events),
      stage,
      printed: output.stdout,
      warned: output.stderr,
      read: (file: string) => readFileSync(join(repo, file), 'utf8'),
    };
  }

  test('are all in the gallery, with a picture, and each is run below', () => {
    const gallery = readFileSync(join(ROOT, 'examples/README.md'), 'utf8');
    const own = readFileSync(import.meta.filename, 'utf8');
    for (const name of EXAMPLES.filter((name) => name !== 'slugify')) {
      expect(gallery).toContain(`(../docs/images/example-${name}-light.png)`);
      expect(gallery).toContain(`npm start ${name}`);
      expect(own).toContain(`play('${name}')`);
    }
  });

  test('review: three members at once, whose messages become one review', async () => {
    const { tasks, read } = await play('review');
    expect(tasks.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'completed'));
    expect(read('REVIEW.md')).toBe(
      [
        '# Review of shop.mjs',
        '',
        '- shop.mjs:10 runs what somebody typed as code (security)',
        '- shop.mjs:3 has a name that says nothing (clarity)',
        '- shop.mjs:4 looks through the whole list for each name (performance)',
        '',
      ].join('\n'),
    );
  });

  test('feature: two members change one file, hear of it, and the merge queue lands both', async () => {
    const { tasks, events, read } = await play('feature');
    expect(tasks.map(({ result }) => result)).toEqual([
      'added shout()',
      'kept both functions',
      expect.stringContaining('test'),
    ]);
    expect(read('src/text.mjs').match(/^export const \w+/gm)).toEqual([
      'export const trim',
      'export const shout',
      'export const countWords',
    ]);
    const types = events.map(({ type }) => type);
    expect(types).toContain('work:overlapped');
    expect(types).toContain('work:conflicted');
  });

  test('migration: plans go back and are approved, and two members share the folders', async () => {
    const { tasks, events, read, warned } = await play('migration');
    expect(tasks).toHaveLength(3);
    // The lead answers the plans.
    expect(warned).not.toContain('waits for you');
    const times = (type: string): number => events.filter((event) => event.type === type).length;
    // Whoever plans first is sent back once. The other may come too late to get a task.
    expect(times('plan:rejected')).toBeGreaterThan(0);
    expect(times('plan:approved')).toBeGreaterThan(0);
    for (const file of ['cart/list', 'mail/show', 'users/save']) {
      expect(read(`src/${file}.mjs`)).toMatch(/^const name = .*\nlet count = 0;\n/);
    }
  });

  test('docs: the gate sends the reference back until every function is in it', async () => {
    const { tasks, read } = await play('docs');
    expect(tasks.map(({ rejections }) => rejections)).toEqual([1, 0]);
    expect(read('docs/reference.md').match(/^## \w+/gm)).toEqual(['## add', '## half', '## multiply']);
    expect(read('docs/index.md')).toContain('(reference.md)');
  });

  test('bug hunt: the explanation that holds becomes a task, and the others stay as notes', async () => {
    const { tasks, read, stage, printed } = await play('bug-hunt');
    expect(tasks.at(-1)).toMatchObject({
      title: 'Fix: at exactly 100 euros nothing is taken off',
      assigneeId: 'fixer',
      status: 'completed',
    });
    // A task that was added meanwhile is named by its title, too.
    expect(printed).toMatch(/completed task #4 \(Fix: at exactly 100 euros nothing is taken off\)/);
    const notes = await stage.ask<{ content: string }[]>('note', 'list', '--team', 'bug-hunt');
    expect(notes.map((note) => JSON.stringify(note)).join()).toContain('Not so: an empty cart costs something');
    expect(read('src/cart.mjs')).toContain('sum >= 10_000');
  });
});
