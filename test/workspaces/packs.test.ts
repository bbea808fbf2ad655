import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/workspaces/depot/packs.ts';
import { newProject, openStage, plainEnvironment, plainGit, write } from './project.ts';
import type { Stage } from './project.ts';

let here: Stage;
let there: Stage;
beforeAll(async () => {
  const roots = [newProject({ lasting: true }), newProject({ lasting: true })] as const;
  // Two clones of one repository, each on its own machine.
  rmSync(join(roots[1], 'project'), { recursive: true });
  plainGit(roots[1], 'clone', '-q', join(roots[0], 'project'), 'project');
  here = await openStage({ root: roots[0] });
  there = await openStage({ root: roots[1] });
  return () => {
    for (const root of roots) rmSync(root, { recursive: true, force: true });
  };
});

/** Runs plain git with bytes, in the depot of the machine that sends. */
function gitWith(input: string | Buffer, ...args: string[]): Buffer {
  const cwd = here.depot.dir;
  const env = { ...plainEnvironment(dirname(cwd)), GIT_DIR: cwd };
  return execFileSync('git', args, { cwd, env, input, stdio: ['pipe', 'pipe', 'ignore'] });
}

/** A commit on the base with a tree of any content, made as git itself would refuse to. */
function commitTree(entries: Buffer): string {
  const tree = gitWith(entries, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin').toString().trim();
  return gitWith('hostile', 'commit-tree', tree, '-p', here.checkout.head).toString().trim();
}

/** A tree with one entry. */
function treeWith(mode: string, name: string, id: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
}

/** What a depot has. */
function picture({ depot, places }: Stage) {
  const packs = readdirSync(join(depot.dir, 'objects', 'pack')).sort();
  const refs = plainGit(depot.dir, 'for-each-ref');
  return { packs, refs, making: readdirSync(places.making), isSuspect: existsSync(join(depot.dir, 'suspect')) };
}

describe('a pack', () => {
  test('brings a work to another machine, without the saves before it', async () => {
    const base = here.checkout.head;
    const workspace = await here.workspaces.open({ team: 'alpha', member: 'ada' }, { base });
    write(workspace.folder, { 'large.txt': 'x'.repeat(5_000_000) });
    const first = (await workspace.save())!;
    write(workspace.folder, { 'large.txt': 'small\n', 'src/b.ts': 'export const b = 2;\n' });
    const saved = (await workspace.save())!;
    const work = { commit: saved.commit, base, name: 'alpha/ada' };
    const commit = await here.depot.flatten(work);
    expect(await here.depot.flatten(work)).toBe(commit);
    const bytes = await here.depot.pack({ want: [commit], have: [base, 'f'.repeat(40)] });
    expect(bytes.length).toBeLessThan(2_000);

    expect(await there.depot.has([base, commit])).toEqual([base]);
    await there.depot.takePack({ bytes, hash: hashOf(bytes), want: [commit] });
    expect(await there.depot.has([base, commit, first.commit])).toEqual([base, commit]);
    expect(await there.depot.changes(base, commit)).toEqual(saved.changes);
    expect(await there.depot.check()).toEqual([]);
    // The same once more changes nothing.
    await there.depot.takePack({ bytes, hash: hashOf(bytes), want: [commit] });
    expect(picture(there)).toMatchObject({ making: [], isSuspect: false });
    expect(await there.depot.roots(commit)).toEqual(await here.depot.roots(base));
  });

  test('is taken in whenever no file of the work was refused before it was handed in', async () => {
    const base = here.checkout.head;
    const url = '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n';
    const bad = {
      'a/.gitmodules': url,
      'b/.GitModules': '[submodule "../../x"]\n\tpath = x\n\turl = https://example.com/x\n',
      'c/.gitmodules': '[submodule "x"]\n\tpath = -x\n\turl = https://example.com/x\n',
      'd/.gitmodules': '[submodule "x"]\n\tpath = x\n\tupdate = !touch x\n',
      'e/.gitattributes': `*.txt ${'x'.repeat(2_100)}\n`,
      // The same file on Windows and on macOS.
      'f/GITMOD~1': url,
      'g/gi7eba~1': url,
      'h/.git\u200cmodules': url,
    };
    const good = {
      '.gitattributes': `*.txt ${'x'.repeat(2_000)}\n`,
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ../x\n',
      'i/.gitmodules-x': url,
      'i/gitmodules': url,
      'i/gift~1': url,
    };
    const eve = await here.workspaces.open({ team: 'alpha', member: 'eve' }, { base });
    const saveAndSend = async () => {
      const saved = (await eve.save())!;
      const commit = await here.depot.flatten({ commit: saved.commit, base, name: 'alpha/eve' });
      const bytes = await here.depot.pack({ want: [commit], have: [base] });
      return { problems: await eve.review(saved), pack: { bytes, hash: hashOf(bytes), want: [commit] } };
    };
    for (const [path, content] of Object.entries(bad)) {
      write(eve.folder, { ...good, [path]: content });
      const { problems, pack } = await saveAndSend();
      expect(problems).toEqual([
        { kind: 'refused', path, why: expect.stringMatching(/^git(?:modules|attributes)\w+: /) },
      ]);
      await expect(there.depot.takePack(pack), path).rejects.toThrow(/gitmodules|gitattributes/);
      rmSync(join(eve.folder, path));
    }
    const { problems, pack } = await saveAndSend();
    expect(problems).toEqual([]);
    await there.depot.takePack(pack);
    expect(await there.depot.has(pack.want)).toEqual(pack.want);

    write(eve.folder, bad);
    const all = await eve.review((await eve.save())!);
    expect(all.map((problem) => ('path' in problem ? problem.path : '')).sort()).toEqual(Object.keys(bad));
    expect(readdirSync(here.places.making)).toEqual([]);
  });

  test('is refused whole if it is hostile, torn, or not the one that the journal names', async () => {
    const base = here.checkout.head;
    const blob = gitWith('#!/bin/sh\n', 'hash-object', '-w', '--stdin').toString().trim();
    const folder = gitWith(treeWith('100755', 'hook', blob), 'hash-object', '-t', 'tree', '-w', '--stdin');
    const names = {
      '.git': /contains '\.git'|hasDotgit/,
      '..': /contains '\.\.'|hasDotdot/,
      '.GIT': /hasDotgit|\.git/,
    };
    const before = picture(there);
    for (const [name, complaint] of Object.entries(names)) {
      const commit = commitTree(treeWith('40000', name, folder.toString().trim()));
      const bytes = await here.depot.pack({ want: [commit], have: [base] });
      const taken = there.depot.takePack({ bytes, hash: hashOf(bytes), want: [commit] });
      await expect(taken, name).rejects.toMatchObject({ code: 'corrupt', message: expect.stringMatching(complaint) });
      expect(await there.depot.has([commit]), name).toEqual([]);
    }
    // A link that leaves the tree is a link like any other; one with the name of git's settings is not.
    const link = commitTree(treeWith('120000', '.gitmodules', blob));
    const linked = await here.depot.pack({ want: [link], have: [base] });
    await expect(there.depot.takePack({ bytes: linked, hash: hashOf(linked), want: [link] })).rejects.toThrow(
      /gitmodulesSymlink/,
    );

    const good = commitTree(treeWith('100644', 'good.txt', blob));
    const bytes = await here.depot.pack({ want: [good], have: [base] });
    const refused = async (pack: Buffer, hash: string, want: string, why: RegExp) =>
      expect(there.depot.takePack({ bytes: pack, hash, want: [want] })).rejects.toMatchObject({
        code: 'corrupt',
        message: expect.stringMatching(why),
      });
    await refused(bytes, hashOf(Buffer.from('other')), good, /not the one that the journal names/);
    const torn = bytes.subarray(0, bytes.length - 30);
    await refused(torn, hashOf(torn), good, /git refuses it/);
    const flipped = Buffer.from(bytes);
    flipped[flipped.length >> 1]! ^= 0xff;
    await refused(flipped, hashOf(flipped), good, /git refuses it/);
    await refused(Buffer.of(), hashOf(Buffer.of()), good, /git refuses it/);
    // Whole, but of another commit.
    await refused(bytes, hashOf(bytes), '1'.repeat(40), /git refuses it/);
    // Whole, but what it builds on is missing.
    const next = gitWith('next', 'commit-tree', `${good}^{tree}`, '-p', good).toString().trim();
    const late = await here.depot.pack({ want: [next], have: [good] });
    await refused(late, hashOf(late), next, /git refuses it/);

    expect(picture(there)).toEqual(before);
    expect(await there.depot.check()).toEqual([]);
    await there.depot.takePack({ bytes, hash: hashOf(bytes), want: [good] });
    await there.depot.takePack({ bytes: late, hash: hashOf(late), want: [next] });
  });
});
