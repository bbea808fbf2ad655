import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyBuilt } from './built-copy.ts';
import { makeSmallPath, walkPackage } from './package-walk.ts';

const ROOT = join(import.meta.dirname, '..');

/** An example of the page, and what it prints according to the page. */
interface Example {
  readonly code: string;
  readonly printed: string;
}

describe('docs/library.md, in a project that installed the package', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-library-')));
  const project = join(folder, 'project');
  const examples = readExamples(readFileSync(join(ROOT, 'docs/library.md'), 'utf8'));

  beforeAll(async () => {
    const house = join(folder, 'house');
    mkdirSync(house);
    copyBuilt(house);
    for (const path of ['schema', 'docs', 'CHANGELOG.md']) {
      cpSync(join(ROOT, path), join(house, path), { recursive: true });
    }
    // `prepack` would build it again.
    const tarball = await run('npm', ['pack', '--ignore-scripts', '--silent', '--no-update-notifier'], house);
    await installOffline(join(house, tarball.trim()), project);
    for (const [index, { code }] of examples.entries()) {
      writeFileSync(join(project, `example-${index}.mjs`), code);
      writeFileSync(join(project, `example-${index}.ts`), code);
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  test('every example prints what the page says, and leaves nothing that keeps the process alive', async () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    const marker = '--- next example';
    const steps = examples.map((_, index) => `await import('./example-${index}.mjs');`);
    writeFileSync(join(project, 'all.mjs'), steps.join(`\nconsole.log('${marker}');\n`));
    const stdout = await run(process.execPath, ['all.mjs'], project);
    expect(stdout.split(`${marker}\n`)).toEqual(examples.map(({ printed }) => printed));
  });

  test('every example has the right types, with the declarations of the package checked as well', async () => {
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    // Several threads would each check much of the same.
    await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--singleThreaded'], project);
  });

  test('its command works, and names the packages that a journal on servers needs', async () => {
    const troupe = (words: string, environment: object = {}) =>
      spawnSync(process.execPath, [join(project, 'node_modules/troupe/bin/troupe.js'), ...words.split(' ')], {
        encoding: 'utf8',
        env: { ...process.env, TROUPE_SOURCE: '', TROUPE_HOME: join(folder, 'home'), ...environment },
      });
    expect(troupe('team create demo')).toMatchObject({ status: 0, stdout: 'Team demo created; its lead is lead.\n' });
    expect(troupe('stop')).toMatchObject({ status: 0, stderr: '' });
    const { status, stderr } = troupe('status', { TROUPE_JOURNAL: 'nats://127.0.0.1:1' });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/A journal on NATS needs packages .* npm install -g @nats-io\/jetstream@3/);
    expect(troupe('journal init nats://127.0.0.1:1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm install -g @nats-io/') as string,
    });
  });

  test('its command runs a team, without git, without a terminal, in a home with a space in its name', () => {
    const home = join(folder, 'a home');
    const cwd = join(home, 'my project');
    mkdirSync(cwd, { recursive: true });
    const command = join(project, 'node_modules/troupe/bin/troupe.js');
    const path = makeSmallPath(join(folder, 'bin'));
    walkPackage({ node: process.execPath, command, home, cwd, path }, `npm uninstall troupe (in ${project})\n`);
  });
});

/** Each block of code with the block of text after it. */
function readExamples(page: string): Example[] {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
  return blocks.flatMap(({ language, text: code }, index) => {
    if (language !== 'ts') return [];
    const next = blocks[index + 1];
    expect(next?.language, `the block after:\n${code}`).toBe('text');
    return { code, printed: next?.text ?? '' };
  });
}

/** Does what `npm install` would, without a network: installs only the package's dependencies and the types of Node. */
async function installOffline(tarball: string, project: string): Promise<void> {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'troupe'), { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', join(modules, 'troupe'), '--strip-components=1'], project);
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'troupe/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
}

/** Runs a program, which must succeed and write nothing to stderr. */
async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, TROUPE_SOURCE: '' };
  const ended = await promisify(execFile)(program, args, { cwd, env }).catch((error: unknown) => {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`, { cause: error });
  });
  expect(ended.stderr).toBe('');
  return ended.stdout;
}
