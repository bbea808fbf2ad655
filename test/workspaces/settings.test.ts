import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { absentCheckout } from '../../src/workspaces/absent.ts';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import { branchIn, findCheckout, hasCommits, isMerged } from '../../src/workspaces/checkout.ts';
import { GitError } from '../../src/workspaces/git-errors.ts';
import { openGit } from '../../src/workspaces/git.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import { inDraft } from '../../src/workspaces/remote/draft.ts';
import { findRemote, findWay } from '../../src/workspaces/remote/settings.ts';
import { wordRefusal } from '../../src/workspaces/remote/words.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { commitAll, newProject, plainGit, write } from './project.ts';

/** The git of a user whose machine has no settings. */
function gitOf(root: string) {
  const program = join(root, 'git');
  writeFileSync(program, '#!/bin/sh\nGIT_CONFIG_NOSYSTEM=1 exec git "$@"\n', { mode: 0o755 });
  return openGit({ environment: { PATH: process.env['PATH'], HOME: root }, program });
}

/** A repository with these settings, of a user with those. */
function openSettings(settings: string, users = '') {
  const root = temporaryFolder();
  const folder = join(root, 'project');
  const format = '[core]\n\trepositoryformatversion = 0\n';
  write(root, {
    '.gitconfig': users,
    'project/.git/HEAD': 'ref: refs/heads/main\n',
    'project/.git/config': format + settings,
    'neutral/HEAD': 'ref: refs/heads/none\n',
    'neutral/config': `${format}\tbare = true\n`,
  });
  for (const dir of ['project/.git', 'neutral']) {
    for (const part of ['objects', 'refs']) mkdirSync(join(root, dir, part));
  }
  return { git: gitOf(root), folder, checkout: { folder } as Checkout, neutral: join(root, 'neutral') };
}

describe('the address of a remote', () => {
  const find = async (settings: string, name = 'origin', users = '') => {
    const { git, checkout } = openSettings(settings, users);
    return findRemote(git, checkout, name);
  };

  test('is told to other machines as they can use it: replaced as the user says, without a password', async () => {
    expect(await find('[remote "origin"]\n\turl = ssh://git@host/x\n\turl = /second\n')).toEqual({
      name: 'origin',
      url: 'ssh://git@host/x',
    });
    expect(await find('[remote "origin"]\n\turl = https://ada:secret@host/x\n')).toEqual({
      name: 'origin',
      url: 'https://host/x',
    });
    const shorts =
      '[url "https://host/"]\n\tinsteadOf = h:\n[url "https://other/"]\n\tinsteadOf = h:o/\n[url "https://all/"]\n\tinsteadOf =\n';
    const remotes =
      '[remote "origin"]\n\turl = h:o/x\n[remote "second"]\n\turl = h:x\n[remote "third"]\n\turl = x.h:x\n';
    expect(await find(remotes, 'origin', shorts)).toEqual({ name: 'origin', url: 'https://other/x' });
    expect(await find(remotes, 'second', shorts)).toEqual({ name: 'second', url: 'https://host/x' });
    expect((await find(remotes, 'third', shorts)).url).not.toContain('https');
    // In whatever order the settings come.
    const turned = '[url "https://other/"]\n\tinsteadOf = h:o/\n[url "https://host/"]\n\tinsteadOf = h:\n';
    expect(await find(remotes, 'origin', turned)).toEqual({ name: 'origin', url: 'https://other/x' });
  });

  test('of a wrong name is an error that lists the right ones', async () => {
    const remotes =
      '[remote "a"]\n\turl = /a\n\turl = /a2\n\tfetch\n[remote "b"]\n\turl = /b\n[remote "empty"]\n\turl =\n';
    await expect(find(remotes, 'c')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(
        /^work\.remote is "c", and \/.*\/project has no such remote \(it has a, b, empty\): correct the name, or add it with git remote add c URL$/,
      ),
    });
    await expect(find(remotes, 'empty')).rejects.toThrow('has no such remote');
    await expect(find('', 'origin')).rejects.toThrow('(it has none)');
  });
});

describe('the way to a remote', () => {
  const OWN = `[remote "origin"]
	url = ../server.git
	pushurl = ssh://git@host/x
	proxy = http://proxy
	uploadpack = /opt/upload
	fetch = +refs/heads/*:refs/remotes/origin/*
	mirror = true
[remote "other"]
	url = /other
[credential]
	helper = mine
[http "https://host"]
	extraHeader = X
[url "https://host/"]
	pushInsteadOf = h:
[core]
	sshCommand = ssh -v
	fsmonitor = /bad
	pager = less
[protocol "ext"]
	allow = always
[lfs]
	url = https://lfs
	storage = /elsewhere
[alias]
	x = y
[safe]
	directory = /a b
`;
  const way = async (settings: string, remote: { name: string; url?: string }, isAbsent = false) => {
    const { git, folder, checkout, neutral } = openSettings(isAbsent ? '' : settings, isAbsent ? settings : '');
    const found = await findWay(git, {
      checkout: { ...checkout, ...(isAbsent && { folder: '/nowhere', isAbsent }) },
      remote,
      neutral,
    });
    const own = found.settings.filter(([key]) => !/^protocol\.(?:https?|ssh|git|file)\.|^http\.low/.test(key));
    return { ...found, own: Object.fromEntries(own), folder };
  };
  const SHARED = {
    'credential.helper': 'mine',
    'http.https://host.extraheader': 'X',
    'url.https://host/.pushinsteadof': 'h:',
    'core.sshcommand': 'ssh -v',
    'protocol.ext.allow': 'always',
    'lfs.url': 'https://lfs',
  };

  test('has what the user says about it, and no other setting', async () => {
    const { own, folder, settings, programs } = await way(OWN, { name: 'origin', url: '/ignored' });
    expect(own).toEqual({
      ...SHARED,
      'remote.origin.url': join(folder, '../server.git'),
      'remote.origin.pushurl': 'ssh://git@host/x',
      'remote.origin.proxy': 'http://proxy',
      'remote.origin.uploadpack': '/opt/upload',
    });
    // Ways that run no program are open, and one that hangs is given up.
    expect(Object.fromEntries(settings)).toMatchObject({
      'protocol.https.allow': 'always',
      'protocol.file.allow': 'always',
      'http.lowSpeedLimit': '1',
      'http.lowSpeedTime': '60',
    });
    expect(programs).toEqual(['safe.directory=/a b']);
  });

  test('to an address on this disk says which folders are safe there, to others nothing', async () => {
    const to = async (url: string) =>
      way(`[remote "origin"]\n\turl = ${url}\n[safe]\n\tdirectory = /x\n`, { name: 'origin' });
    for (const url of ['/abs', 'rel', './a:b', 'file:///abs', 'FILE:///abs']) {
      expect((await to(url)).programs, url).toEqual(['safe.directory=/x']);
    }
    for (const url of ['host:x', 'https://host/x']) expect((await to(url)).programs, url).toEqual([]);
    expect((await to('host:x')).own).toEqual({ 'remote.origin.url': 'host:x' });
    const { own, folder } = await to('rel');
    expect(own).toEqual({ 'remote.origin.url': join(folder, 'rel') });
  });

  test('that only the journal knows has its address; no program runs there, and none is needed elsewhere', async () => {
    const { own, programs } = await way(OWN, { name: 'new', url: '/server' });
    expect(own).toEqual({ ...SHARED, 'remote.new.url': '/server' });
    expect(programs).toEqual([
      'safe.directory=/a b',
      'core.hooksPath=/dev/null',
      'core.fsmonitor=false',
      'core.alternateRefsCommand=true',
      'receive.autogc=false',
    ]);
    expect((await way(OWN, { name: 'new', url: 'https://host/x' })).programs).toEqual([]);
    // On a machine without a checkout, also of a remote that the user's own settings happen to have.
    const absent = await way(OWN, { name: 'origin', url: '/server' }, true);
    expect(absent.own).toEqual({ ...SHARED, 'remote.origin.url': '/server' });
  });

  test('that nobody knows is an error that says where to add it', async () => {
    const add = 'and the journal does not have its address: run git remote add new URL in a checkout on this machine';
    await expect(way(OWN, { name: 'new' })).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(new RegExp(`/project has no remote of that name, ${add}$`)),
    });
    await expect(way(OWN, { name: 'new' }, true)).rejects.toThrow(`this machine has no checkout that knows it, ${add}`);
  });

  test('begins in an empty repository that borrows the objects, and goes afterwards', async () => {
    const places = await openPlaces(temporaryFolder(), { endLeftovers: async () => {} });
    const dir = join(places.depots, 'a.git');
    write(dir, { shallow: 'abc\n' });
    const seen = await inDraft({ dir, format: 'sha256', places }, async (draft) => {
      expect(draft.variables).toEqual({ GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(dir, 'objects')) });
      expect(draft.objects).toBe(join(draft.dir, 'objects'));
      expect(readFileSync(join(draft.dir, 'shallow'), 'utf8')).toBe('abc\n');
      return plainGit(draft.dir, 'rev-parse', '--is-bare-repository', '--show-object-format');
    });
    expect(seen).toBe('true\nsha256');
    const failed = inDraft({ dir: join(places.depots, 'b.git'), format: 'sha1', places }, async (draft) => {
      expect(existsSync(join(draft.dir, 'shallow'))).toBe(false);
      expect(plainGit(draft.dir, 'rev-parse', '--show-object-format')).toBe('sha1');
      throw new Error('enough');
    });
    await expect(failed).rejects.toThrow('enough');
    expect(readdirSync(places.making)).toEqual([]);
    write(dir, { 'odd.git/shallow/x': '' });
    await expect(inDraft({ dir: join(dir, 'odd.git'), format: 'sha1', places }, async () => {})).rejects.toThrow();
  });
});

test.for([
  [
    'fatal: remote error: upload-pack: not our ref 1234',
    'not_found',
    'it does not have the commit (remote error: upload-pack: not our ref 1234)',
  ],
  [
    'error: x\n ! [remote rejected] a -> b (shallow update not allowed)',
    'not_found',
    'it lacks the commits before this work (! [remote rejected] a -> b (shallow update not allowed))',
  ],
  [
    'error: object 12: gitmodulesUrl\nfatal: fsck error in packed object',
    'corrupt',
    'git refuses what it sends (fsck error in packed object)',
  ],
  [
    "hint: x\nfatal: Authentication failed for 'https://ada:secret@host/x'",
    'storage',
    "git has no credentials that work without a question: set up a credential helper or an SSH key (Authentication failed for 'https://host/x')",
  ],
  [
    'To ../server.git\n ! [rejected] a -> b (fetch first)\nerror: failed to push some refs',
    'storage',
    'it refuses the ref (! [rejected] a -> b (fetch first))',
  ],
  [
    '\nssh: Could not resolve hostname\nfatal: Could not read from remote repository.\n\nPlease make sure you have\nand the repository exists.',
    'storage',
    'ssh: Could not resolve hostname; Could not read from remote repository.',
  ],
  ['one\ntwo\nthree', 'storage', 'one; two'],
  ['', 'storage', 'git push failed: killed'],
  ['hint: only a hint', 'storage', 'git push failed: killed'],
] as const)('of %j a person reads %s', ([complaint, code, said]) => {
  const error = new GitError('storage', 'git push failed in /state/x.git: killed', { complaint });
  expect(wordRefusal(error)).toEqual({ code, said });
});

describe('a checkout', () => {
  test('has the facts about its repository and the settings of its user, the last of each', async () => {
    const root = newProject();
    const project = join(root, 'project');
    write(root, {
      '.gitconfig':
        '[user]\n\tname = Ada\n\temail = ada@example.com\n[core]\n\teol = perhaps\n\teol = lf\n\tpager = true\n[core]\n\tsymlinks\n\texcludesFile = ~/mine\n',
      mine: '*.tmp',
    });
    write(project, { '.git/info/exclude': '/own\n' });
    plainGit(project, 'config', 'user.name', 'Ada of Alpha');
    const git = gitOf(root);
    const find = async (environment: Record<string, string> = { HOME: root }) =>
      (await findCheckout(git, project, environment)) as Checkout;
    const head = plainGit(project, 'rev-parse', 'HEAD');
    const settings = ['core.eol=lf', 'core.symlinks=true', 'core.filemode=true'];
    expect(await find()).toEqual({
      folder: project,
      gitDir: join(project, '.git'),
      commonDir: join(project, '.git'),
      head,
      branch: 'main',
      format: 'sha1',
      isShallow: false,
      isPartial: false,
      settings: expect.arrayContaining(settings),
      person: { name: 'Ada of Alpha', email: 'ada@example.com' },
      ignored: '*.tmp\n/own\n',
    });
    expect((await find()).settings.filter((one) => !settings.includes(one))).toEqual([]);
    // Without a name for it, the file is where git looks for it.
    write(root, {
      '.gitconfig': '[user]\n\temail = ada@example.com\n',
      '.config/git/ignore': 'usual\n',
      'xdg/git/ignore': 'xdg\n',
    });
    plainGit(project, 'config', '--unset', 'user.name');
    plainGit(project, 'config', 'remote.origin.promisor', 'false');
    expect(await find()).toMatchObject({ ignored: 'usual\n/own\n', person: undefined, isPartial: false });
    expect((await find({ HOME: root, XDG_CONFIG_HOME: join(root, 'xdg') })).ignored).toBe('xdg\n/own\n');
    plainGit(project, 'config', 'remote.origin.promisor', 'true');
    plainGit(project, 'checkout', '-q', '--detach');
    expect(await find()).toMatchObject({ branch: undefined, isPartial: true });

    const checkout = await find();
    write(project, { 'new.txt': 'new\n' });
    const next = commitAll(project);
    plainGit(project, 'update-ref', 'refs/heads/main', head);
    plainGit(project, 'checkout', '-q', 'main');
    expect(await branchIn(git, checkout)).toBe('main');
    expect(await hasCommits(git, checkout, [head, next])).toBe(true);
    expect(await hasCommits(git, checkout, [])).toBe(true);
    expect(await hasCommits(git, checkout, ['1'.repeat(40), head])).toBe(false);
    expect(await hasCommits(git, checkout, [plainGit(project, 'rev-parse', 'HEAD^{tree}')])).toBe(false);
    expect(await Promise.all([head, next, '1'.repeat(40)].map((id) => isMerged(git, checkout, id)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('that cannot be used says why', async () => {
    const root = newProject();
    const project = join(root, 'project');
    const environment = { PATH: process.env['PATH'], HOME: root };
    const git = openGit({ environment });
    const odd = join(root, 'a\nb');
    plainGit(root, 'clone', '-q', project, odd);
    expect(await findCheckout(git, odd, environment)).toEqual({
      reason: 'no-repository',
      why: `${odd}: a folder with a newline in its name`,
    });
    expect(await findCheckout(git, root, environment)).toEqual({
      reason: 'no-repository',
      why: `${root}: it is in no git repository`,
    });
    // A repository of somebody else.
    write(root, { foreign: `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"\n` });
    chmodSync(join(root, 'foreign'), 0o755);
    const foreign = openGit({ environment, program: join(root, 'foreign') });
    expect(await findCheckout(foreign, project, environment)).toEqual({
      reason: 'no-repository',
      why: `${project}: git refuses it, because it belongs to another user`,
    });
    write(root, { broken: '#!/bin/sh\nexit 7\n' });
    chmodSync(join(root, 'broken'), 0o755);
    const broken = openGit({ environment, program: join(root, 'broken') });
    await expect(findCheckout(broken, project, environment)).rejects.toMatchObject({ code: 'storage' });
  });

  test('that a machine does not have is stood for by one that is never the same for two projects', () => {
    const places = { depots: '/state/depots' };
    const [one, two] = [absentCheckout(places, 'a'.repeat(40)), absentCheckout(places, 'b'.repeat(64))];
    expect(one).toEqual({
      folder: expect.stringMatching(/^\/state\/depots\/[0-9a-f]{16}\.git\/no-tree$/),
      gitDir: '',
      commonDir: expect.stringContaining('a'.repeat(40)),
      head: 'a'.repeat(40),
      branch: undefined,
      format: 'sha1',
      isShallow: false,
      isPartial: false,
      settings: [],
      person: undefined,
      ignored: '',
      isAbsent: true,
    });
    expect(one).not.toHaveProperty('depot');
    expect([two.format, two.head]).toEqual(['sha256', 'b'.repeat(64)]);
    expect([two.folder, two.commonDir]).not.toEqual([one.folder, one.commonDir]);
    // For a checkout that is gone, its depot stays.
    const gone = absentCheckout(places, 'a'.repeat(40), '0123456789abcdef');
    expect(gone).toMatchObject({ depot: '0123456789abcdef', folder: '/state/depots/0123456789abcdef.git/no-tree' });
  });
});
