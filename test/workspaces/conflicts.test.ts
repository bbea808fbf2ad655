import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NEWER_GITS, newerGit } from './gits.ts';
import { openStage, plainGit, write } from './project.ts';

describe("this machine's git", () => comparePairs(undefined));

describe.for(NEWER_GITS)('git $version', (git) => {
  const program = newerGit(git);
  if (program !== undefined) comparePairs(program);
  else test('compares pairs', (context) => context.skip(`git ${git.version} is not installed`));
});

function comparePairs(program: string | undefined): void {
  test('says what a merge of each pair says, and leaves nothing in the depot', async () => {
    const { depot, checkout, workspaces, places } = await openStage(program === undefined ? {} : { program });
    const save = async (member: string, files: Record<string, string>) => {
      const workspace = await workspaces.open({ team: 'alpha', member }, { base: checkout.head });
      write(workspace.folder, files);
      return (await workspace.save())?.commit ?? '';
    };
    const one = await save('one', { 'new\n.txt': 'by one\n', 'both.txt': 'both\n', 'one.txt': '1\n' });
    const two = await save('two', { 'new\n.txt': 'by two\n', 'both.txt': 'both\n' });
    const three = await save('three', { 'three.txt': '3\n', 'both.txt': 'of three\n' });
    const before = plainGit(depot.dir, 'count-objects');
    const pairs = [
      [one, two],
      [one, one],
      [two, three],
      [one, three],
      [checkout.head, three],
    ] as const;
    const found = await depot.conflicts(pairs);
    expect(found).toEqual([['new\n.txt'], [], ['both.txt'], ['both.txt'], []]);
    for (const [i, pair] of pairs.entries()) {
      const { conflicts } = await depot.merge(...pair);
      expect(conflicts.map(({ path }) => path)).toEqual(found[i]);
      if (i === 0) expect(plainGit(depot.dir, 'count-objects')).not.toBe(before);
    }
    const after = plainGit(depot.dir, 'count-objects');
    await depot.conflicts(pairs);
    expect(plainGit(depot.dir, 'count-objects')).toBe(after);
    expect(readdirSync(places.making)).toEqual([]);
    const gone = '1'.repeat(40);
    await expect(
      depot.conflicts([
        [one, two],
        [one, gone],
      ]),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(readdirSync(places.making)).toEqual([]);
  });
}
