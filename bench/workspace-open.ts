import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark, Scale } from './benchmark.ts';
import { openMemory } from './disk.ts';
import { makeRepository, plainGit } from './repository.ts';
import { interleave, median, time } from './rounds.ts';

/** A workspace that is ready to work, against a linked worktree of plain git. */
export const workspaceOpen: Benchmark = {
  name: 'workspace-open',
  unit: 'ms',
  about: 'a workspace is opened on a repository of 10,000 files (and 1,000, and 100,000), and eight at once',
  target: 'at most 1.15 times `git worktree add`, at most 1.3 times `git clone --shared`; none of eight fails',
  async run(scale) {
    const main = await measure(scale, { files: scale.size(10_000), atOnce: 8 });
    const small = await measure(scale, { files: scale.size(1_000), atOnce: 8 });
    const few = { ...scale, rounds: Math.ceil(scale.rounds / 3) };
    const large = await measure(few, { files: scale.size(100_000), atOnce: 1 });
    return {
      value: main.open,
      limit: 'git worktree add --detach',
      limitValue: main.worktree,
      ratio: main.ratio,
      peers: [{ name: 'git clone --shared', value: main.clone, ratio: main.open / main.clone }],
      targets: [
        { what: 'times git worktree add, 10,000 files', value: main.ratio, atMost: 1.15 },
        { what: 'times git worktree add, 100,000 files', value: large.ratio, atMost: 1.15 },
        { what: 'times git clone --shared, 10,000 files', value: main.open / main.clone, atMost: 1.3 },
      ],
      more: { small, large, eight: main.atOnce },
    };
  },
};

/** The bytes that two folders of 100,000 files take, with the repository. */
const ROOM = 4 * 1024 ** 3;

interface Size {
  readonly files: number;
  /** How many are opened at once in the end. */
  readonly atOnce: number;
}

/**
 * Opens and removes folders in turns. Removing them is not timed. In memory: on a disk, removing them takes longer than
 * everything else, and slows whatever makes files next.
 */
async function measure(scale: Scale, { files, atOnce }: Size) {
  using disk = openMemory(ROOM);
  const { folder } = disk;
  const { checkout, workspaces, path } = await makeRepository(folder, files);
  const made = join(folder, 'made');
  const check = (opened: string): void => {
    if (!existsSync(join(opened, path(files - 1)))) throw new Error(`${opened} is not whole`);
  };
  const plain = async (args: readonly string[], after?: () => void): Promise<number> => {
    const ms = await time(() => plainGit(checkout.folder, args));
    check(made);
    rmSync(made, { recursive: true });
    after?.();
    return ms;
  };
  let count = 0;
  const openOne = async (): Promise<number> => {
    const name = { team: 'bench', member: `m${count++}` };
    let opened = '';
    const ms = await time(async () => (opened = (await workspaces.open(name, { base: checkout.head })).folder));
    check(opened);
    rmSync(opened, { recursive: true });
    return ms;
  };
  const worktree = () =>
    plain(['worktree', 'add', '-q', '--detach', made], () => plainGit(checkout.folder, ['worktree', 'prune']));
  const found = await interleave(scale, worktree, {
    open: openOne,
    clone: () => plain(['clone', '-q', '--shared', checkout.folder, made]),
  });
  const together = await time(() => Promise.all(Array.from({ length: atOnce }, openOne)));
  return {
    open: median(found.parts.open),
    worktree: median(found.limit),
    clone: median(found.parts.clone),
    ratio: median(found.ratios.open),
    atOnce: together,
  };
}
