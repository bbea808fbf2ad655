import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { OverlapSide } from '../src/core/overlap.ts';
import { compareSaves } from '../src/runtime/work/overlaps.ts';
import type { SavedPaths } from '../src/runtime/work/overlaps.ts';
import type { Depot } from '../src/workspaces/depot.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { makeRepository } from './repository.ts';
import { interleave, median, time } from './rounds.ts';

const MEMBERS = 32;
/** Each member changes a line of this many files, out of so many. */
const EDITS = 6;
const TOUCHED = 400;

/** Who changes the same files, and does it conflict: a whole pass against a merge of every pair. */
export const overlap: Benchmark = {
  name: 'overlap',
  unit: 'ms',
  about: 'saves of 8 members with 6 edits each are compared, and merged where they share a file',
  target: 'at most 1 s for 8 members; at most 0.3 s of CPU for 32',
  async run(scale) {
    using disk = openWorkspace();
    const { checkout, depot, path } = await makeRepository(disk.folder, Math.max(TOUCHED, scale.size(10_000)));
    const sides = Array.from({ length: MEMBERS }, (_, i): OverlapSide => {
      return { memberId: `m${i + 1}`, taskId: String(i + 1), epoch: 1 };
    });
    const saves = makeSaves(depot, checkout.head, { sides, path });
    const pass = async (count: number) => {
      const chosen = sides.slice(0, count);
      const { found, isLeft } = await compareSaves(depot, { sides: chosen, saves, merged: new Map() });
      if (isLeft) throw new Error(`One pass was not enough for ${count} members`);
      return found;
    };
    const eight = sides.slice(0, 8);
    const conflicts = await conflictsOfAll(depot, eight, saves);
    const found = (await pass(8)).filter((one) => one.conflicts.length > 0).length;
    if (found !== conflicts) throw new Error(`${found} pairs conflict by their paths, ${conflicts} by all merges`);
    let cpu: number[] = [];
    const rounds = await interleave(scale, () => time(() => conflictsOfAll(depot, eight, saves)), {
      eight: () => time(() => pass(8)),
      all: async () => {
        const before = processorSeconds();
        const ms = await time(() => pass(MEMBERS));
        cpu.push(processorSeconds() - before);
        return ms;
      },
    });
    cpu = cpu.slice(-scale.rounds);
    return {
      value: median(rounds.parts.eight),
      limit: 'git merge-tree for each of 28 pairs',
      limitValue: median(rounds.limit),
      ratio: median(rounds.ratios.eight),
      peers: [],
      targets: [
        { what: 'ms for 8 members', value: median(rounds.parts.eight), atMost: 1_000 },
        { what: 's of CPU for 32 members', value: median(cpu), atMost: 0.3 },
      ],
      more: { for32: median(rounds.parts.all), pairs: (await pass(MEMBERS)).length },
    };
  },
};

/** How many pairs conflict, by merging them all. */
async function conflictsOfAll(
  depot: Depot,
  sides: readonly OverlapSide[],
  saves: ReadonlyMap<string, SavedPaths>,
): Promise<number> {
  const commits = sides.map(({ memberId }) => saves.get(memberId)?.commit ?? '');
  let conflicting = 0;
  for (const [i, one] of commits.entries()) {
    for (const other of commits.slice(i + 1)) {
      if ((await depot.merge(one, other)).conflicts.length > 0) conflicting++;
    }
  }
  return conflicting;
}

/** A commit of each member on the base, with a changed line in some files. */
function makeSaves(
  depot: Depot,
  base: string,
  { sides, path }: { sides: readonly OverlapSide[]; path: (number: number) => string },
): Map<string, SavedPaths> {
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', args, { cwd: depot.dir, encoding: 'utf8', input, maxBuffer: 1e9 });
  const paths = (i: number): string[] => Array.from({ length: EDITS }, (_, n) => path(chosen(i * EDITS + n)));
  const stream = sides.map((_, i) => {
    const files = [...new Set(paths(i))].map((name) => {
      const lines = git(['show', `${base}:${name}`]).split('\n');
      // Every fourth member changes the same line.
      lines[(i % 4) * 14] = `changed by ${i}`;
      const text = lines.join('\n');
      return `M 644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
    });
    const head = `commit refs/heads/bench-${i}\ncommitter A <a@example.com> ${1_800_000_000 + i} +0000\ndata 1\nx\n`;
    return `${head}from ${base}\n${files.join('')}`;
  });
  git(['fast-import', '--quiet'], stream.join(''));
  return new Map(
    sides.map(({ memberId }, i) => [
      memberId,
      { commit: git(['rev-parse', `refs/heads/bench-${i}`]).trim(), paths: new Set(paths(i)) },
    ]),
  );
}

/** Spreads numbers over the files, the same in every run. */
function chosen(number: number): number {
  const mixed = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  return Math.floor(((Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0) / 2 ** 32) * TOUCHED);
}

/** The CPU time of this process and of the git commands that it has run, from Linux; zero on other systems. */
function processorSeconds(): number {
  try {
    // After the name of the program, which may contain anything: user, system, and both of children that ended.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    return 0;
  }
}
