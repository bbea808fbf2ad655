import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openGit, readId, requireId, splitZero } from '../../src/workspaces/git.ts';
import type { GitSettings } from '../../src/workspaces/git.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** A program in git's place. */
function openScript(script: string, settings: Partial<GitSettings> = {}) {
  const dir = temporaryFolder();
  const program = join(dir, 'git');
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { dir, git: openGit({ environment: { PATH: process.env['PATH'] }, program, ...settings }) };
}

/** What a shell sets itself. */
const OF_THE_SHELL = ['PWD', 'OLDPWD', 'SHLVL', '_'];

/** Reads what this program prints: its arguments, and its variables. */
const SHOW = `for word; do printf 'word %s\\0' "$word"; done; env -0`;

function readShown(out: Buffer) {
  const lines = splitZero(out).map(String);
  const words = lines.flatMap((line) => /^word (.*)$/s.exec(line)?.[1] ?? []);
  const variables = lines.filter((line) => !line.startsWith('word ')).map((line) => line.split(/=(.*)/s));
  return {
    words,
    variables: Object.fromEntries(variables.filter(([name = '']) => !OF_THE_SHELL.includes(name))),
  };
}

const PATH = process.env['PATH'] ?? '';
const QUIET = {
  PATH,
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
};
const OURS = {
  ...QUIET,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
};
const USERS = {
  PATH,
  HOME: '/home/ada',
  TMPDIR: '/tmp/ada',
  EDITOR: 'vi',
  TROUPE_TOKEN: 'secret',
  GIT_DIR: '/elsewhere',
  GIT_CONFIG_PARAMETERS: "'core.pager=x'",
  GIT_CONFIG_GLOBAL: '/home/ada/other',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_SSL_CAINFO: '/ca',
  GIT_PROXY_COMMAND: undefined,
};
/** What is added for programs that reach other machines. */
const NO_QUESTIONS = { SSH_ASKPASS: 'false', SSH_ASKPASS_REQUIRE: 'never', GCM_INTERACTIVE: 'never' };

describe('git gets', () => {
  test('in a depot: our variables and settings alone, an index and a folder that are named or do not exist', async () => {
    const { dir, git } = openScript(SHOW, { environment: USERS, marks: { MARK: 'of this daemon' } });
    const options = { config: ['a.b=c d'], variables: { GIT_AUTHOR_DATE: '@0' } };
    const { words, variables } = readShown((await git.run({ dir }, ['log', '$(x) *'], options)).out);
    expect(words.slice(-4)).toEqual(['-c', 'a.b=c d', 'log', '$(x) *']);
    const settings = words.slice(0, -4).filter((_, at) => at % 2 === 1);
    expect(words.slice(0, -4)).toEqual(settings.flatMap((setting) => ['-c', setting]));
    expect(settings).toEqual(
      expect.arrayContaining(['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'protocol.allow=never']),
    );
    const own = { ...OURS, MARK: 'of this daemon', TMPDIR: '/tmp/ada', HOME: dir, GIT_DIR: dir };
    expect(variables).toEqual({
      ...own,
      GIT_AUTHOR_DATE: '@0',
      GIT_INDEX_FILE: `${dir}/no-index`,
      GIT_WORK_TREE: `${dir}/no-tree`,
    });
    const named = readShown((await git.run({ dir, index: '/index', tree: '/tree' }, ['log'])).out);
    expect(named.variables).toEqual({ ...own, GIT_INDEX_FILE: '/index', GIT_WORK_TREE: '/tree' });
    expect(named.words).toEqual([...words.slice(0, -4), 'log']);
  });

  test('in a folder of the user: the home of the user, and no variable that leads elsewhere', async () => {
    const { dir, git } = openScript(SHOW, { environment: { ...USERS, XDG_CONFIG_HOME: '/home/ada/.xdg' } });
    const { words, variables } = readShown((await git.ask(dir, ['config', '--list'])).out);
    expect(words).toEqual(['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', 'config', '--list']);
    expect(variables).toEqual({ ...QUIET, TMPDIR: '/tmp/ada', HOME: '/home/ada', XDG_CONFIG_HOME: '/home/ada/.xdg' });
  });

  test('without a home or a PATH: the usual places', async () => {
    const { dir, git } = openScript(SHOW, { environment: {} });
    const usual = { ...QUIET, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/' };
    expect(readShown((await git.ask(dir, [])).out).variables).toEqual(usual);
    expect(readShown((await git.reach(dir, [], { settings: [] })).out).variables).toMatchObject({ HOME: '/' });
  });

  test('to reach another machine: the environment of the user and the named settings, but nobody to ask', async () => {
    const { dir, git } = openScript(SHOW, { environment: USERS });
    const options = {
      settings: [
        ['url.a.insteadOf', 'b'],
        ['credential.helper', 'c'],
      ] as const,
      config: ['fetch.fsckObjects=true'],
      variables: { GIT_ALTERNATE_OBJECT_DIRECTORIES: '/depot' },
    };
    const { words, variables } = readShown((await git.reach(dir, ['fetch', 'origin'], options)).out);
    expect(words.slice(-4)).toEqual(['-c', 'fetch.fsckObjects=true', 'fetch', 'origin']);
    expect(words).toContain('core.hooksPath=/dev/null');
    expect(variables).toEqual({
      ...OURS,
      ...NO_QUESTIONS,
      TMPDIR: '/tmp/ada',
      HOME: '/home/ada',
      EDITOR: 'vi',
      GIT_SSL_CAINFO: '/ca',
      GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
      GIT_ALTERNATE_OBJECT_DIRECTORIES: '/depot',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'url.a.insteadOf',
      GIT_CONFIG_VALUE_0: 'b',
      GIT_CONFIG_KEY_1: 'credential.helper',
      GIT_CONFIG_VALUE_1: 'c',
      GIT_DIR: dir,
      GIT_INDEX_FILE: `${dir}/no-index`,
      GIT_WORK_TREE: `${dir}/no-tree`,
    });
  });

  test('as the user: who that is and which settings hold, and every exit code is an answer', async () => {
    const { dir, git } = openScript(`${SHOW}; exit 255`, { environment: { ...USERS, GIT_AUTHOR_EMAIL: undefined } });
    const { code, out } = await git.asUser(dir, ['merge', 'x y']);
    const { words, variables } = readShown(out);
    expect(code).toBe(255);
    expect(words).toEqual(['merge', 'x y']);
    expect(variables).toEqual({
      ...NO_QUESTIONS,
      PATH,
      HOME: '/home/ada',
      TMPDIR: '/tmp/ada',
      EDITOR: 'vi',
      GIT_SSL_CAINFO: '/ca',
      GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
      GIT_CONFIG_GLOBAL: '/home/ada/other',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'false',
    });
  });

  test.for([
    [{}, [], 'ssh -o BatchMode=yes'],
    [{ GIT_SSH_COMMAND: ' /usr/bin/ssh -i key' }, [], ' /usr/bin/ssh -i key -o BatchMode=yes'],
    [{ GIT_SSH_COMMAND: 'plink' }, [['core.sshcommand', 'ssh']], 'plink'],
    [
      {},
      [
        ['a.b', 'c'],
        ['core.sshcommand', 'ssh -v'],
        ['core.sshcommand', 'ssh -4'],
        ['d.e', 'f'],
      ],
      'ssh -4 -o BatchMode=yes',
    ],
    [{ GIT_SSH: '/opt/ssh' }, [], undefined],
    [{ GIT_SSH: '/opt/ssh' }, [['core.sshcommand', 'mine']], 'mine'],
  ] as const)('of %j and settings %j this SSH, which does not ask: %s', async ([variables, settings, command]) => {
    const { dir, git } = openScript(SHOW, { environment: { PATH, ...variables } });
    const shown = readShown((await git.reach(dir, [], { settings })).out);
    expect(shown.variables['GIT_SSH_COMMAND']).toBe(command);
  });
});

describe('the version of git', () => {
  const SAY = 'pwd >> "$0.asked"; cat "$0.says" && test ! -e "$0.fails"';

  test.for([
    ['git version 2.38.0', '2.38.0'],
    ['git version 2.39.5 (Apple Git-154)', '2.39.5'],
    ['git version 10.1.windows.1', '10.1.windows.1'],
  ])('%s is new enough', async ([says, version]) => {
    const { dir, git } = openScript(SAY);
    writeFileSync(join(dir, 'git.says'), says!);
    expect(await git.version()).toBe(version);
    expect(await git.version()).toBe(version);
    // Asked once, in a folder that does not go.
    expect(readFileSync(join(dir, 'git.asked'), 'utf8')).toBe('/\n');
  });

  test.for([
    ['git version 2.37.9', '2.37.9'],
    ['git version 1.99.0', '1.99.0'],
    ['hello', 'another program'],
  ])('%s is not, and it is asked again after an update', async ([says, named]) => {
    const { dir, git } = openScript(SAY);
    writeFileSync(join(dir, 'git.says'), says!);
    await expect(git.version()).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(`need git 2.38 or later, and this is ${named}: update git`),
    });
    writeFileSync(join(dir, 'git.says'), 'git version 2.40');
    expect(await git.version()).toBe('2.40');
  });

  test('that git does not say is an error', async () => {
    const { git } = openScript('exit 3');
    await expect(git.version()).rejects.toThrow('git --version failed in /: it ended with 3');
  });
});

describe('a command', () => {
  test('gets its input as text, as bytes, in parts or not at all, and its output is whole', async () => {
    const { dir, git } = openScript('cat; echo said >&2; exit 4');
    const ask = async (input?: string | Buffer | AsyncIterable<Buffer | string>) => {
      const options = { exits: [4], ...(input !== undefined && { input }) };
      const { out, err, isCut, code } = await git.run({ dir }, [], options);
      expect([err, isCut, code]).toEqual(['said\n', false, 4]);
      return out;
    };
    async function* parts() {
      yield 'one ';
      yield Buffer.from('two');
    }
    expect((await ask('text')).toString()).toBe('text');
    expect((await ask(Buffer.from([0, 255]))).toString('hex')).toBe('00ff');
    expect((await ask(parts())).toString()).toBe('one two');
    expect((await ask()).toString()).toBe('');
    const large = Buffer.alloc(1_000_000, 'x');
    expect((await ask(large)).equals(large)).toBe(true);
  });

  test('that reads no input is no failure', async () => {
    const { dir, git } = openScript('exec 0<&-; echo done');
    async function* endless() {
      for (;;) yield Buffer.alloc(100_000);
    }
    expect((await git.run({ dir }, [], { input: Buffer.alloc(10_000_000) })).out.toString()).toBe('done\n');
    expect((await git.run({ dir }, [], { input: endless() })).out.toString()).toBe('done\n');
  });

  test('whose input fails is ended, and fails with that', async () => {
    const { dir, git } = openScript('cat; sleep 600');
    const stop = new AbortController();
    async function* failing(isAborted: boolean) {
      yield 'one';
      if (isAborted) stop.abort(new Error('stopped first'));
      throw new Error('no more');
    }
    await expect(git.run({ dir }, [], { input: failing(false) })).rejects.toThrow('no more');
    await expect(git.run({ dir }, [], { input: failing(true), signal: stop.signal })).rejects.toThrow('stopped first');
  });

  test('that prints more than it may is ended: an error, or a beginning', async () => {
    const { dir, git } = openScript('printf 0123456789; echo warning >&2');
    expect(await git.run({ dir }, [], { maxBytes: 10 })).toMatchObject({
      out: Buffer.from('0123456789'),
      isCut: false,
    });
    await expect(git.run({ dir }, ['log'], { maxBytes: 9 })).rejects.toMatchObject({
      code: 'limit',
      message: 'git log printed more than 9 bytes and was stopped: ask for less',
      isKilled: true,
    });
    const cut = await git.run({ dir }, [], { maxBytes: 4, cut: true });
    expect([cut.code, cut.out.toString(), cut.isCut]).toEqual([0, '0123', true]);
    expect(await git.run({ dir }, [], { maxBytes: 10, cut: true })).toMatchObject({ isCut: false });
    const failing = openScript('printf 0123; exit 3');
    await expect(failing.git.run({ dir: failing.dir }, ['log'], { maxBytes: 4, cut: true })).rejects.toThrow(
      'it ended with 3',
    );
    const endless = openScript('while :; do printf 0123456789; done');
    expect((await endless.git.run({ dir: endless.dir }, [], { maxBytes: 25, cut: true })).out).toHaveLength(25);
  });

  test('that complains without end is not kept whole', async () => {
    const { dir, git } = openScript('head -c 1000000 /dev/zero | tr "\\0" e >&2; echo end >&2');
    const { err } = await git.run({ dir }, []);
    expect(err.length).toBeGreaterThanOrEqual(65_536);
    expect(err.length).toBeLessThan(200_000);
  });

  test('that takes too long is ended with all that it started', async () => {
    const { dir, git } = openScript('trap "" TERM; sleep 600 & echo $! > "$0.pid"; wait');
    const error = git.run({ dir }, ['gc'], { timeoutMs: 400 });
    await expect(error).rejects.toMatchObject({
      code: 'storage',
      message: `git gc in ${dir} did not end within 0 s and was stopped: try again when the machine is less busy`,
      isKilled: true,
    });
    await expectEnded(join(dir, 'git.pid'));
  });

  test('that is stopped is ended with all that it started, and says why', async () => {
    const { dir, git } = openScript('trap "" TERM; sleep 600 & echo $! > "$0.pid"; wait');
    const stop = new AbortController();
    const { signal } = stop;
    const running = git.run({ dir }, [], { signal });
    await until('it runs', () => readIfThere(join(dir, 'git.pid')).endsWith('\n'));
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await expectEnded(join(dir, 'git.pid'));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    // One that was stopped before does not begin.
    rmSync(join(dir, 'git.pid'));
    await expect(git.run({ dir }, [], { signal })).rejects.toThrow('enough');
    await expect(git.run({ dir }, [], { signal: AbortSignal.abort('a text') })).rejects.toMatchObject({
      name: 'AbortError',
      message: 'The work was stopped.',
    });
    expect(readIfThere(join(dir, 'git.pid'))).toBe('');
  });

  test('that ends leaves nothing at the signal that could have stopped it', async () => {
    const { dir, git } = openScript('exit 0');
    const { signal } = new AbortController();
    await git.run({ dir }, [], { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expect(git.run({ dir: join(dir, 'gone') }, [], { signal })).rejects.toThrow();
    await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that is killed or fails says so', async () => {
    const { dir, git } = openScript('case "$*" in *kill*) kill -9 $$;; esac; exit 7');
    await expect(git.run({ dir }, ['kill'])).rejects.toMatchObject({
      code: 'storage',
      message: `git kill failed in ${dir}: it ended with killed by SIGKILL`,
      isKilled: true,
    });
    await expect(git.run({ dir }, ['log'], { exits: [0, 1] })).rejects.toMatchObject({
      name: 'GitError',
      message: `git log failed in ${dir}: it ended with 7`,
      isKilled: false,
      facts: undefined,
    });
    expect((await git.run({ dir }, ['log'], { exits: [0, 7] })).code).toBe(7);
  });

  test('that cannot start says whether git or its folder is missing, or what the system says', async () => {
    const { dir, git } = openScript('');
    await expect(git.run({ dir: join(dir, 'gone') }, [])).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/\/gone: the folder is gone$/),
      facts: { errno: 'ENOENT' },
    });
    const missing = openGit({ environment: {}, program: join(dir, 'no-git') });
    await expect(missing.run({ dir }, [])).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/no-git in .*: install git, or set workspaces: shared$/),
    });
    const barred = openGit({ environment: {}, program: dir });
    await expect(barred.run({ dir }, [])).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('EACCES'),
      facts: { errno: 'EACCES' },
    });
  });

  test('that cannot start because too many files are open is a refusal, and ends no daemon', () => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { openGit } from '${join(import.meta.dirname, '../../src/workspaces/git.ts')}';
      const git = openGit({ environment: process.env });
      const files = [];
      try { for (;;) files.push(openSync('/dev/null')); } catch {}
      // One more can be opened, but git needs six.
      closeSync(files.pop());
      await git.ask('/', ['--version']).catch((error) => console.log(error.code, error.facts.errno));
    `;
    const words = ['-c', 'ulimit -n 40; exec "$0" --input-type=module-typescript -e "$1"', process.execPath, script];
    expect(execFileSync('sh', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).toBe('storage EMFILE\n');
  });
});

/** What a file says; nothing if it is not there. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Waits until a process whose number is in a file has ended. */
async function expectEnded(path: string): Promise<void> {
  const pid = Number(readFileSync(path, 'utf8'));
  await until('it has ended', () => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
    } catch {
      return true;
    }
  });
}

describe('what git prints', () => {
  test('is split at zeros, also without one at the end', () => {
    const split = (text: string) => splitZero(Buffer.from(text)).map(String);
    expect(split('')).toEqual([]);
    expect(split('a\0b\0')).toEqual(['a', 'b']);
    expect(split('a\0\0bc')).toEqual(['a', '', 'bc']);
    expect(split('\0')).toEqual(['']);
  });

  test('is an id, or a defect that quotes it', () => {
    const said = (out: string) => readId({ code: 0, out: Buffer.from(out), err: ' why\n', isCut: false });
    for (const id of ['0a'.repeat(20), '0a'.repeat(32)]) {
      expect(said(`${id}\n`)).toBe(id);
      expect(requireId(id)).toBe(id);
    }
    const long = 'z'.repeat(100);
    expect(() => said(long)).toThrow(`git printed "${'z'.repeat(80)}" where an id belongs: why`);
    for (const wrong of ['HEAD', '0A'.repeat(20), '0a'.repeat(21), `${'0a'.repeat(20)}\n`]) {
      expect(() => requireId(wrong)).toThrow(/is not the id of a commit: give the full id$/);
    }
    expect(() => requireId(long)).toThrow(`"${'z'.repeat(80)}" is not`);
  });
});
