import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { makeRepository, plainGit } from './repository.ts';
import { interleave, median, time } from './rounds.ts';

const EDITS = 20;

/** What makes git flush what it writes; it flushes nothing by itself. */
const DURABLE = ['-c', 'core.fsync=objects,derived-metadata,reference', '-c', 'core.fsyncMethod=batch'];

/** A save of a changed folder, durable and kept by a ref, against a look at the same folder. */
export const workspaceSave: Benchmark = {
  name: 'workspace-save',
  unit: 'ms',
  about: 'a workspace of 10,000 files is saved after 20 edits, after one, and unchanged',
  target: 'at most 2 times `git status` in the folder',
  async run(scale) {
    using disk = openWorkspace();
    const files = scale.size(10_000);
    const { checkout, workspaces, path } = await makeRepository(disk.folder, files);
    const workspace = await workspaces.open({ team: 'bench', member: 'ada' }, { base: checkout.head });
    await workspace.save();
    let number = 0;
    const edit = (count: number, folder = workspace.folder): void => {
      for (let i = 0; i < count; i++) {
        number++;
        writeFileSync(join(folder, path((number * 37) % files)), `changed ${number}\n`.repeat(60));
      }
    };
    const clone = join(disk.folder, 'clone');
    plainGit(disk.folder, ['clone', '-q', '--shared', join(disk.folder, 'project'), clone]);
    // The index of the daemon catches up after a save is acknowledged, and the next call waits for that. It is not part
    // of the save, and must not be part of what is measured next.
    const rest: number[] = [];
    const comeToRest = async (): Promise<void> => {
      rest.push(await time(async () => void (await workspace.saves(1))));
    };
    const byHand = (): Promise<number> => {
      edit(EDITS, clone);
      return time(() => {
        plainGit(clone, [...DURABLE, 'add', '--all']);
        plainGit(clone, [...DURABLE, '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'x']);
      });
    };
    const save = (count: number) => async (): Promise<number> => {
      edit(count);
      let isNew = false;
      const ms = await time(async () => (isNew = (await workspace.save())?.unchanged === false));
      await comeToRest();
      if (isNew !== count > 0) throw new Error(`A save after ${count} edits was ${isNew ? 'new' : 'unchanged'}`);
      return ms;
    };
    const status = async (): Promise<number> => {
      edit(1);
      const ms = await time(() => plainGit(workspace.folder, ['status', '--porcelain']));
      // So that a save after no edit has nothing to do.
      await workspace.save();
      await workspace.saves(1);
      return ms;
    };
    const found = await interleave(scale, status, { many: save(EDITS), one: save(1), none: save(0), byHand });
    return {
      value: median(found.parts.many),
      limit: 'git status',
      limitValue: median(found.limit),
      ratio: median(found.ratios.many),
      peers: [
        {
          name: 'git add and git commit after 20 edits, flushed as ours',
          value: median(found.parts.byHand),
          ratio: median(found.parts.many) / median(found.parts.byHand),
        },
      ],
      targets: [
        { what: 'times git status, after 20 edits', value: median(found.ratios.many), atMost: 2 },
        { what: 'times git status, after one edit', value: median(found.ratios.one), atMost: 2 },
        { what: 'times git status, unchanged', value: median(found.ratios.none), atMost: 1 },
      ],
      more: { one: median(found.parts.one), unchanged: median(found.parts.none), untilRest: median(rest) },
    };
  },
};
