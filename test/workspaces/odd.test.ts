import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toBytes, toText } from '../../src/workspaces/paths.ts';
import { findPrograms, needTool } from '../tools.ts';
import { commitAll, makeRepository, newProject, openStage, plainGit, shareStage, write } from './project.ts';

const ADA = { team: 'alpha', member: 'ada' };

const nextStage = shareStage();

/** A workspace of the shared stage; with options, of one of its own. */
async function openAda(options?: Parameters<typeof openStage>[0]) {
  const stage = options ? { ...(await openStage(options)), name: ADA } : nextStage();
  return { ...stage, ada: await stage.workspaces.open(stage.name, { base: stage.checkout.head }) };
}

describe('odd contents of a folder', () => {
  test('are saved and given back whole, or left out and named', async () => {
    const { ada, depot, checkout } = await openAda();
    const { folder } = ada;
    const names = ['new\nline', '"quoted"', '-dash', '$(touch x)', 'a b', 'é', ':(top)x', '*', 'tab\tname', '\\back'];
    for (const name of names) writeFileSync(join(folder, name), 'odd\n');
    const raw = Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]);
    writeFileSync(raw, 'latin\n');
    symlinkSync('/etc/passwd', join(folder, 'out'));
    symlinkSync('../..', join(folder, 'up'));
    symlinkSync('/etc', join(folder, 'etc'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    makeRepository(join(folder, 'nested'));
    makeRepository(join(folder, 'deep/er/nested'));
    plainGit(folder, 'init', '-q', 'empty');
    write(folder, { '.GIT/config': 'x', 'x/git~1/y': 'x', 'src/a.ts': 'kept\n' });
    write(folder, { '.gitattributes/x': 'x', 'x/.GitModules/y/z': 'x', 'x/.gitignore/y': 'kept\n' });
    rmSync(join(folder, 'README.md'));
    execFileSync('mkfifo', [join(folder, 'README.md')]);
    // A folder of the project becomes a link out of it, a file becomes a folder.
    renameSync(join(folder, 'docs'), join(folder, 'docs2'));
    symlinkSync('/etc', join(folder, 'docs'));
    rmSync(join(folder, 'src/b.ts'));
    write(folder, { 'src/b.ts/inside': 'inside\n' });

    const saved = await ada.save();
    const left = saved!.leftOut.map(({ path, reason }) => `${reason} ${path}`).sort();
    expect(left).toEqual([
      'name .GIT/config',
      'name .gitattributes/x',
      'name x/.GitModules/y/z',
      'name x/git~1/y',
      'nested-repository deep/er/nested',
      'nested-repository empty',
      'nested-repository nested',
      'special-file README.md',
    ]);
    const paths = saved!.changes.map(({ path }) => path);
    for (const name of [
      ...names.filter((one) => one !== '"quoted"'),
      'out',
      'up',
      'etc',
      'docs',
      'src/b.ts/inside',
      'x/.gitignore/y',
    ]) {
      expect(paths).toContain(name);
    }
    expect(paths).toContain('"caf\\351"');
    expect(paths).toContain('"\\"quoted\\""');
    expect(toText(toBytes('"caf\\351"'))).toBe('"caf\\351"');
    expect(toBytes('"\\"quoted\\""').toString()).toBe('"quoted"');
    expect(await ada.save()).toMatchObject({ unchanged: true, commit: saved!.commit });

    const modes = plainGit(depot.dir, 'ls-tree', '-r', saved!.commit);
    expect(modes).not.toContain('160000');
    const links = modes.split('\n').flatMap((line) => (line.startsWith('120000') ? line.split('\t')[1] : []));
    expect(links).toEqual(['docs', 'etc', 'out', 'up']);
    const problems = await ada.review(saved!);
    expect(problems.filter(({ kind }) => kind === 'left-out')).toHaveLength(8);

    // What is not saved stays, what is saved comes back byte by byte, and nothing outside was written.
    for (const name of ['nested', 'deep', 'empty', 'README.md']) rmSync(join(folder, name), { recursive: true });
    await ada.refresh(checkout.head);
    expect(existsSync(raw)).toBe(false);
    await ada.restore(saved!.commit);
    expect(readFileSync(raw, 'utf8')).toBe('latin\n');
    for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toBe('odd\n');
    expect(readlinkSync(join(folder, 'docs'))).toBe('/etc');
    expect(existsSync('/etc/guide.md')).toBe(false);
    expect(await depot.check()).toEqual([]);
  });

  test('a file of gigabytes is left out before it is read', async () => {
    const { ada } = await openAda({ limits: { fileSize: 1_000_000, workSize: 1_500_000 } });
    writeFileSync(join(ada.folder, 'huge'), '');
    truncateSync(join(ada.folder, 'huge'), 10 * 1024 ** 3);
    for (const name of ['one', 'two']) writeFileSync(join(ada.folder, name), Buffer.alloc(900_000));
    write(ada.folder, { small: 'small\n' });
    const first = await ada.save();
    expect(first!.leftOut.map(({ path, reason }) => ({ path, reason }))).toEqual([
      { path: 'huge', reason: 'file-size' },
      { path: expect.stringMatching(/one|two/), reason: 'work-size' },
    ]);
    expect(first!.changes).toHaveLength(2);
    // What is saved already counts.
    writeFileSync(join(ada.folder, 'three'), Buffer.alloc(900_000));
    expect((await ada.save())!.leftOut).toHaveLength(3);
  });

  test.for([
    ['UTF-16', /BOM is required in 'plain\.txt'/],
    ['nonsense-9', /failed to encode 'plain\.txt'/],
  ] as const)('a file that is not in its encoding %s is named, and the others are saved', async ([encoding, why]) => {
    const { ada } = await openAda();
    write(ada.folder, {
      '.gitattributes': `*.txt working-tree-encoding=${encoding}\n`,
      'plain.txt': 'plain\n',
      'ok.md': 'ok\n',
    });
    const saved = (await ada.save())!;
    expect(saved.changes.map(({ path }) => path)).toEqual(['.gitattributes', 'ok.md']);
    expect(saved.leftOut).toEqual([
      { path: 'plain.txt', reason: 'unreadable', detail: expect.stringMatching(why) as string },
    ]);
    expect(await ada.review(saved)).toMatchObject([{ kind: 'left-out', path: 'plain.txt' }]);
    // Its holder corrects that.
    rmSync(join(ada.folder, '.gitattributes'));
    const next = (await ada.save())!;
    expect(next.changes.map(({ path }) => path)).toEqual(['ok.md', 'plain.txt']);
    expect(next.leftOut).toEqual([]);
  });

  test('attributes that no folder could be made with are named, and in no save', async () => {
    const root = newProject({ files: { 'a.txt': 'a\n', 'b.md': 'b\n' } });
    const { ada, checkout } = await openAda({ root });
    write(ada.folder, { 'src/.gitattributes': '# x\n*.txt working-tree-encoding\n', 'ok.md': 'ok\n' });
    const first = (await ada.save())!;
    expect(first.changes.map(({ path }) => path)).toEqual(['ok.md']);
    expect(first.leftOut).toMatchObject([{ path: 'src/.gitattributes', reason: 'unreadable' }]);
    // Now they concern a file that git has to read, because its times say nothing.
    write(ada.folder, { '.gitattributes': '*.txt text working-tree-encoding\n', 'a.txt': 'A\n', 'b.md': 'B\n' });
    const second = (await ada.save())!;
    expect(second.leftOut.map(({ path }) => path)).toContain('.gitattributes');
    expect(second.changes.map(({ path }) => path)).not.toContain('.gitattributes');
    for (const path of ['.gitattributes', 'src']) rmSync(join(ada.folder, path), { recursive: true });
    const third = (await ada.save())!;
    expect(third.leftOut).toEqual([]);
    expect(third.changes.map(({ path }) => path)).toEqual(['a.txt', 'b.md', 'ok.md']);
    await ada.refresh(checkout.head);
    await ada.restore(third.commit);
  });

  test('a file that git cannot take in is named, and the others are saved', async () => {
    const root = newProject({ files: { '.gitattributes': '*.bad filter=bad\n' } });
    const { ada, depot } = await openAda({ root });
    // A program that fails, as git-lfs does when its disk is full.
    await depot.handle.run(['config', 'filter.bad.clean', 'false']);
    await depot.handle.run(['config', 'filter.bad.required', 'true']);
    // Known now, as git-lfs is.
    ((await depot.unknownFilters(ada.base!)) as Set<string>).clear();
    const names = Array.from({ length: 20 }, (_, i) => `file-${i}`);
    for (const name of names) write(ada.folder, { [name]: `${name}\n` });
    write(ada.folder, { 'a.bad': 'a\n', 'file-7.bad': 'b\n', 'z.bad': 'c\n' });
    const saved = await ada.save();
    expect(saved!.leftOut.map(({ path, reason }) => `${reason} ${path}`).sort()).toEqual([
      'unreadable a.bad',
      'unreadable file-7.bad',
      'unreadable z.bad',
    ]);
    expect(saved!.changes.map(({ path }) => path).sort()).toEqual([...names].sort());
    await depot.handle.run(['config', 'filter.bad.clean', 'cat']);
    expect((await ada.save())!.leftOut).toEqual([]);
  });

  test('names that differ in case only, and markers that were left, are found before they are handed in', async () => {
    const { ada } = await openAda();
    write(ada.folder, { 'SRC/x.ts': 'x\n', 'readme.md': 'x\n' });
    write(ada.folder, {
      'src/a.ts': 'one\n<<<<<<< ours\ntwo\n=======\n2\n>>>>>>> theirs\nthree\n',
      'b.md': 'Heading\n=======\n\nMore\n=======\n',
      'base.md': 'one\n||||||| 1a2b3c4\ntwo\n',
      'end.md': 'one\n=======\n>>>>>>> theirs\n',
      'plain.md': '|||||||\n<<<<<<<< eight\n',
    });
    const saved = await ada.save();
    expect(await ada.review(saved!)).toEqual([
      { kind: 'markers', path: 'base.md', line: 2 },
      { kind: 'markers', path: 'end.md', line: 2 },
      { kind: 'markers', path: 'src/a.ts', line: 2 },
      { kind: 'case', paths: ['README.md', 'readme.md'] },
      { kind: 'case', paths: ['SRC', 'src'] },
    ]);
  });
});

describe('files that the project stores through a filter', () => {
  const files = { '.gitattributes': '*.bin filter=lfs\n*.key filter=crypt\n', 'old.bin': 'pointer\n', 'a.txt': 'a\n' };

  test('are left out if the filter is not known: a save never has the large file in place of its pointer', async () => {
    const root = newProject({ files });
    // A PATH with git and without git-lfs, which this machine may have beside it.
    const path = join(root, 'bin');
    mkdirSync(path);
    symlinkSync(findPrograms('git')[0]!, join(path, 'git'));
    const { ada } = await openAda({ root, path });
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n';
    write(ada.folder, { 'big.bin': 'x'.repeat(5000), 'moved.bin': pointer, 'my.key': 'secret', 'b.txt': 'b\n' });
    const saved = await ada.save();
    expect(saved!.leftOut).toEqual([
      { path: 'big.bin', reason: 'filter', detail: 'lfs' },
      { path: 'my.key', reason: 'filter', detail: 'crypt' },
    ]);
    expect(saved!.changes.map(({ path }) => path)).toEqual(['b.txt', 'moved.bin']);
  });

  test('are saved as pointers if git-lfs is installed, and their contents come along', async (context) => {
    needTool(context, 'git-lfs');
    const root = newProject();
    const project = join(root, 'project');
    plainGit(project, 'lfs', 'install', '--local');
    write(project, { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'old.bin': 'old '.repeat(1000) });
    commitAll(project);
    // A large file that is not on this machine stays a pointer, and nobody is asked for it.
    write(project, { '.lfsconfig': '[lfs]\n\turl = http://127.0.0.1:1/\n', 'gone.bin': 'gone '.repeat(1000) });
    commitAll(project);
    const oid = /sha256:(\w+)/.exec(plainGit(project, 'cat-file', '-p', 'HEAD:gone.bin'))![1]!;
    rmSync(join(project, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid));
    const { ada, depot } = await openAda({ root });
    expect(readFileSync(join(ada.folder, 'gone.bin'), 'utf8')).toMatch(/^version https/);
    expect(readFileSync(join(ada.folder, 'old.bin'), 'utf8')).toBe('old '.repeat(1000));
    write(ada.folder, { 'big.bin': 'x'.repeat(5000) });
    const saved = await ada.save();
    expect(saved!.leftOut).toEqual([]);
    expect(saved!.changes.map(({ path }) => path)).toEqual(['big.bin']);
    expect(plainGit(depot.dir, 'cat-file', '-p', `${saved!.commit}:big.bin`)).toMatch(/^version https:.*size 5000$/s);
    await ada.refresh(ada.base!);
    await ada.restore(saved!.commit);
    expect(readFileSync(join(ada.folder, 'big.bin'), 'utf8')).toBe('x'.repeat(5000));
  });
});

describe('ignored files of the checkout', () => {
  test('come along if copy or .worktreeinclude names them, without following a link', async () => {
    const root = newProject();
    const project = join(root, 'project');
    write(root, { outside: 'secret\n' });
    write(project, { '.worktreeinclude': 'config/*.log\nlinked.log\n' });
    write(project, { '.gitignore': 'node_modules/\n.env\n*.log\nlocal/\n' });
    symlinkSync('/tmp', join(project, 'away'));
    const base = commitAll(project);
    write(project, {
      '.env': 'KEY=1\n',
      'config/a.log': 'a\n',
      'b.log': 'b\n',
      'local/deep/x': 'x\n',
      loose: 'loose\n',
    });
    chmodSync(join(project, '.env'), 0o600);
    symlinkSync(join(root, 'outside'), join(project, 'linked.log'));
    const { workspaces } = await openStage({ root });
    const copy = ['.env', 'local', 'loose', 'missing.txt'];
    const ada = await workspaces.open(ADA, { base, copy });
    expect([...ada.opened.copied].sort()).toEqual(['.env', 'config/a.log', 'local/deep/x']);
    expect(Object.fromEntries(ada.opened.notCopied.map(({ path, reason }) => [path, reason]))).toEqual({
      'linked.log': 'it is a symbolic link',
      loose: 'it is not ignored, so every save would have it',
      'missing.txt': 'it is not there',
    });
    expect(readFileSync(join(ada.folder, '.env'), 'utf8')).toBe('KEY=1\n');
    expect(existsSync(join(ada.folder, 'b.log'))).toBe(false);
    expect(await ada.save()).toMatchObject({ changes: [], leftOut: [] });
  });

  test('are in no save when a member removes the rule that hid them', async () => {
    const root = newProject();
    const project = join(root, 'project');
    write(project, { '.gitignore': '.env\ncaf*\n' });
    const base = commitAll(project);
    write(project, { '.env': 'KEY=1\n' });
    const odd = Buffer.from('caf\xe9', 'latin1');
    writeFileSync(Buffer.concat([Buffer.from(`${project}/`), odd]), 'odd\n');
    const { workspaces } = await openStage({ root });
    const ada = await workspaces.open(ADA, { base, copy: ['.env', 'caf*'] });
    write(ada.folder, { '.gitignore': 'node_modules/\n', '.env': 'KEY=2\n', 'own.txt': 'own\n' });
    const saved = await ada.save();
    expect(saved!.changes.map(({ path }) => path)).toEqual(['.gitignore', 'own.txt']);
    const leftOut = ['.env', '"caf\\351"'].map((path) => ({ path, reason: 'copied' }));
    expect(saved!.leftOut).toEqual(leftOut);
    expect(await ada.review(saved!)).toEqual(leftOut.map((one) => ({ kind: 'left-out', ...one })));
    // Also in the next daemon, and in a folder that was made again.
    const next = await openStage({ root });
    const again = await next.workspaces.open(ADA, { base });
    expect((await again.save())!.leftOut).toEqual(leftOut);
    rmSync(again.folder, { recursive: true });
    expect((await again.save())!.leftOut).toEqual([]);
  });

  test('that only the user ignores are in no save either', async () => {
    const root = newProject();
    write(root, { '.config/git/ignore': '.idea/\n', 'project/.git/info/exclude': '*.tmp\n' });
    write(join(root, 'project'), { '.idea/x': 'x\n', 'y.tmp': 'y\n' });
    const { ada, depot } = await openAda({ root });
    expect(await depot.uncommitted()).toEqual([]);
    mkdirSync(join(ada.folder, '.idea'));
    write(ada.folder, { '.idea/x': 'x\n', 'y.tmp': 'y\n', z: 'z\n' });
    expect((await ada.save())!.changes.map(({ path }) => path)).toEqual(['z']);
  });
});

test('submodules are left alone: told at the opening, moved with the tip, and never changed by a save', async () => {
  const root = newProject();
  const project = join(root, 'project');
  const [one, two] = ['1', '2'].map((digit) => digit.repeat(40));
  const bump = (commit: string): string => {
    plainGit(project, 'update-index', '--add', '--cacheinfo', `160000,${commit},libs/sub`);
    plainGit(project, 'commit', '-qm', `submodule at ${commit}`);
    return plainGit(project, 'rev-parse', 'HEAD');
  };
  const [base, tip] = [bump(one!), bump(two!)];
  const { workspaces, depot } = await openStage({ root });
  const ada = await workspaces.open(ADA, { base });
  expect(ada.opened.submodules).toEqual(['libs/sub']);
  // The agent fetches the submodule and works in it.
  makeRepository(join(ada.folder, 'libs/sub'));
  write(ada.folder, { 'libs/sub/x': 'x\n', 'src/b.ts': 'work\n' });
  const saved = await ada.save();
  expect(saved!.changes.map(({ path }) => path)).toEqual(['src/b.ts']);
  expect(plainGit(depot.dir, 'ls-tree', saved!.commit, 'libs/')).toContain(one);
  await ada.refresh(tip);
  expect(await ada.save()).toMatchObject({ commit: tip, unchanged: true, leftOut: [] });
  expect(existsSync(join(ada.folder, 'libs/sub/x'))).toBe(true);
  rmSync(join(ada.folder, 'libs'), { recursive: true });
  expect(await ada.save()).toMatchObject({ commit: tip, unchanged: true });
  expect(await depot.merge(tip, saved!.commit)).toMatchObject({ conflicts: [] });
});
