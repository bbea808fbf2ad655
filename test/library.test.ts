import { execFile, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
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
import { makeSmallPath, walkPackage } from './package/person.ts';
import { findOldNode, needs } from './tools.ts';

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

  beforeAll(() => {
    const house = join(folder, 'house');
    mkdirSync(house);
    copyBuilt(house);
    cpSync(join(ROOT, 'schema'), join(house, 'schema'), { recursive: true });
    installOffline(house, project);
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

  test('its command names the packages that a journal on servers needs', async () => {
    const troupe = (words: string, environment: object = {}) =>
      spawnSync(process.execPath, [join(project, 'node_modules/troupe/bin/troupe.js'), ...words.split(' ')], {
        encoding: 'utf8',
        env: { ...process.env, TROUPE_SOURCE: '', TROUPE_HOME: join(folder, 'home'), ...environment },
      });
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

  test('has the license texts of the packages that are bundled', () => {
    const text = readFileSync(join(project, 'node_modules/troupe/dist/cli/licenses.md'), 'utf8');
    for (const name of ['hono', 'ws', 'yaml', 'zod', '@modelcontextprotocol/server']) {
      expect(text).toContain(`\n## ${name} - `);
    }
  });

  test(
    'says which Node it needs',
    needs(findOldNode() !== undefined, 'no Node older than 22.13 is on the PATH'),
    () => {
      const program = `import('troupe').catch((error) => console.log(error.message))`;
      const ended = spawnSync(findOldNode() ?? '', ['-e', program], { cwd: project, encoding: 'utf8' });
      expect(ended.stdout).toMatch(/^Troupe needs Node 22\.13 or newer, and this is Node \d+\.\d+\.\d+\.\n$/);
    },
  );
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

/**
 * Does what npm would, without it: installs the files that the package has, its dependencies and the types of Node. What npm
 * itself packs and installs, test/package/walk.test.ts uses.
 */
function installOffline(house: string, project: string): void {
  const modules = join(project, 'node_modules');
  const { dependencies, files } = JSON.parse(readFileSync(join(house, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    files: string[];
  };
  for (const path of globSync([...files, 'package.json'], { cwd: house })) {
    cpSync(join(house, path), join(modules, 'troupe', path), { recursive: true });
  }
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
