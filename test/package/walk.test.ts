import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packInto } from '../../scripts/pack.ts';
import { isBuilt } from '../../scripts/stale.ts';
import { agentProgram } from '../agents/installed.ts';
import { followGuide, readInstallation } from '../guide/follow.ts';
import { step } from '../setup/steps.ts';
import { needs, needTool } from '../tools.ts';
import { useBrowser } from '../ui/browser.ts';
import { go, openFile } from '../ui/record-page.ts';
import { until } from '../until.ts';
import { useMachine } from './machine.ts';
import { COUNT, makeOwnProject } from './own-project.ts';

const ROOT = join(import.meta.dirname, '../..');
const missing = (['claude', 'codex'] as const).filter((name) => agentProgram(name) === undefined);

describe('from the tarball alone, on a machine with Node', needs(isBuilt(), 'dist/ is older than src/'), () => {
  const machine = useMachine();
  const browser = useBrowser();
  const project = (): string => join(machine().home, 'words');
  const record = (): string => join(machine().home, 'run.html');

  /** Runs a command, which must succeed; returns what it printed. */
  const succeed = async (line: string, cwd = machine().home): Promise<string> => {
    const { code, stdout, stderr } = await machine().run(line, cwd);
    expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };

  test('npm installs the command with what it depends on, and nothing else', async (context) => {
    const { home, prefix, package: installed, env } = machine();
    await step(context, 'npm pack', () => packInto(home));
    const [line = ''] = readInstallation();
    await step(context, line, () => succeed(line));
    const command = (await succeed('command -v troupe')).trim();
    expect([command, realpathSync(command)]).toEqual([join(prefix, 'bin/troupe'), join(installed, 'bin/troupe.js')]);
    expect(readdirSync(join(prefix, 'bin'))).toEqual(['troupe']);
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const packages = readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(Object.keys(dependencies));
    // Neither sources nor links that lead elsewhere.
    expect(existsSync(join(installed, 'src'))).toBe(false);
    expect(`${home}${prefix}${JSON.stringify(env)}`).not.toContain(`${ROOT}/`);
  });

  test(
    'everything that the guide says happens to a reader who does it',
    // It takes a minute, since a person would: on a busy machine several.
    { ...needs(missing.length === 0, `${missing.join(', ')} is not installed`), timeout: 15 * 60_000 },
    (context) => followGuide(context, machine()),
  );

  test('a team of its own: work that the gate sent back lands, and is merged into the checkout', async (context) => {
    await makeOwnProject(project(), succeed);
    const told = await step(context, 'troupe init', () => succeed('troupe init', project()));
    expect(told).toContain('Every task is judged by npm test (package.json).');
    // A person puts programs in place of the stand-ins of both members, and adds a gate.
    const file = join(project(), 'troupe.yaml');
    const standIn = /exec: \[sh, -c, ".*"\]/;
    const changes = [
      [standIn, 'exec: [node, build.mjs]'],
      [standIn, 'exec: [node, review.mjs]'],
      [/^hooks:$/m, 'hooks:\n  TaskCreated: { command: ./named.mjs, executor: node, onFailure: block }'],
    ] as const;
    const text = changes.reduce((before, [what, by]) => before.replace(what, by), readFileSync(file, 'utf8'));
    writeFileSync(file, text);

    const done = await step(context, 'troupe up', () => succeed('troupe up --yes', project()));
    expect(done).toMatch(/2 of 2 tasks completed in .*\. A gate sent #1 back once\./);
    expect(done).toContain('Landed on troupe/words: 3 files');
    // The daemon still runs.
    expect(machine().processes()).not.toEqual([]);
    expect(machine().pathsOfCheckout()).toEqual([]);
    const before = await succeed('git log --format=%s', project());
    expect(before).toBe('Begin\n');
    const merged = await step(context, 'troupe merge', () => succeed('troupe merge', project()));
    expect(merged).toContain('Merged troupe/words into main: 3 files');
    const log = await succeed('git log --format=%s', project());
    expect(log).toMatch(/Find one small problem[^]*\nBegin\n$/);
    expect(readFileSync(join(project(), 'count.mjs'), 'utf8')).toBe(COUNT.right);
  });

  test('the exported page opens in a browser from disk, with tasks and diff, and asks for nothing', async (context) => {
    needTool(context, 'chromium');
    const told = await step(context, 'troupe export', () => succeed(`troupe export words ${record()}`));
    expect(told).toContain('run.html');
    await step(context, 'open it in Chromium', async () => {
      const { page, faults } = await openFile(browser(), record());
      expect(page.url()).toMatch(/^file:/);
      await expect(page.getByRole('note').innerText()).resolves.toMatch(
        /^Record of team words, exported .* by Troupe \d/,
      );
      await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'List' }).click();
      for (const title of ['Find one small problem in this project and fix it', 'Review the change']) {
        await page.getByRole('row').filter({ hasText: title }).waitFor();
      }
      await go(page, '/t/words/diff');
      await page.locator('.diff-size', { hasText: '3 files' }).waitFor();
      await page.getByRole('navigation', { name: 'Changed files' }).getByTitle('count.mjs', { exact: true }).click();
      await page.getByText(COUNT.change).first().waitFor();
      expect(await page.title()).toContain('words');
      expect(faults).toEqual([]);
    });
  });

  test('uninstalling leaves no process, no state, no service, no completion, and no command', async (context) => {
    const { home, prefix, temporary } = machine();
    const { file: service } = JSON.parse(await succeed('troupe service status --json')) as { file: string };
    const completion = join(home, '.config/fish/completions/troupe.fish');
    for (const path of [service, completion]) mkdirSync(dirname(path), { recursive: true });
    await succeed(`troupe service install --print > ${service}`);
    await succeed(`troupe completion fish > ${completion}`);
    const state = join(home, '.local/state/troupe');
    expect([service, completion, state].every((path) => path.startsWith(home) && existsSync(path))).toBe(true);
    expect(machine().processes()).not.toEqual([]);

    const told = await step(context, 'troupe uninstall', () => succeed('troupe uninstall --yes'));
    expect([service, completion, state].filter((path) => existsSync(path))).toEqual([]);
    await until('every process has ended', () => machine().processes().length === 0);
    const [, remove = ''] = /To remove the package itself: (.*)\n/.exec(told) ?? [];
    await step(context, 'npm uninstall -g', () => succeed(remove));
    expect([readdirSync(join(prefix, 'bin')), readdirSync(join(prefix, 'lib/node_modules'))]).toEqual([[], []]);
    // The tarball and the team files are the person's.
    expect(readdirSync(home).filter((name) => name.includes('troupe'))).toEqual([expect.stringMatching(/\.tgz$/)]);
    const settings = ['.local', '.config'].filter((name) => existsSync(join(home, name)));
    const left = settings.flatMap((name) => readdirSync(join(home, name), { recursive: true, encoding: 'utf8' }));
    expect(left.filter((path) => path.includes('troupe'))).toEqual([]);
    expect(readdirSync(temporary).filter((name) => name.includes('troupe'))).toEqual([]);
  });
});
