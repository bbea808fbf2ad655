import { beforeAll, describe, expect, test } from 'vitest';
import { lint } from './oxlint.ts';
import type { Finding } from './oxlint.ts';

/** A file, its code, and the rule that must report it; none if all rules must be silent. */
type Habit = readonly [file: string, code: string, rule?: string];

const HABITS: readonly Habit[] = [
  ['src/core/now.ts', `export const x = Date.now();`, 'eslint(no-restricted-properties)'],
  ['src/core/random.ts', `export const x = Math.random();`, 'eslint(no-restricted-properties)'],
  ['src/core/date.ts', `export const x = new Date();`, 'house(no-clock)'],
  ['src/core/date-text.ts', `export const x = Date();`, 'house(no-clock)'],
  ['src/core/performance.ts', `export const x = performance.now();`, 'eslint(no-restricted-globals)'],
  ['src/core/uuid.ts', `export const x = crypto.randomUUID();`, 'eslint(no-restricted-globals)'],
  ['src/core/timer.ts', `setTimeout(() => undefined, 1);`, 'eslint(no-restricted-globals)'],
  ['src/core/promise.ts', `export const x = Promise.resolve(1);`, 'eslint(no-restricted-globals)'],
  ['src/core/global-now.ts', `export const x = globalThis.Date.now();`, 'eslint(no-restricted-properties)'],
  ['src/core/global-env.ts', `export const x = globalThis.process.env;`, 'eslint(no-restricted-properties)'],
  [
    'src/core/global-uuid.ts',
    `export const x = globalThis['crypto'].randomUUID();`,
    'eslint(no-restricted-properties)',
  ],
  ['src/core/global-timer.ts', `globalThis.setTimeout(() => undefined, 1);`, 'eslint(no-restricted-properties)'],
  ['src/core/zone.ts', `export const x = new Intl.DateTimeFormat().format();`, 'eslint(no-restricted-properties)'],
  ['src/core/template.ts', 'export const x = (): unknown => import(`node:fs`);', 'house(floors)'],
  ['src/core/part.ts', 'export const x = (y: string): unknown => import(`node:${y}`);', 'house(floors)'],
  ['src/core/async.ts', `export async function x(): Promise<void> {}`, 'oxc(no-async-await)'],
  ['src/core/parse.ts', `export const x = (text: string): Date => new Date(text);`],
  ['src/ledger/now.ts', `export const x = [Date.now(), Math.random(), new Date()];`],

  ['src/server/log.ts', `console.log('hello');`, 'eslint(no-console)'],
  ['src/server/write.ts', `process.stdout.write('hello');`, 'eslint(no-restricted-properties)'],
  ['src/server/exit.ts', `process.exit(1);`, 'eslint(no-restricted-properties)'],
  ['src/cli/print.ts', `console.log('hello');\nprocess.stdout.write('hello');`],

  ['src/ledger/hen.ts', `import type { Egg } from './egg.ts';\nexport type Hen = Egg | 1;`, 'import(no-cycle)'],
  ['src/ledger/egg.ts', `import type { Hen } from './hen.ts';\nexport type Egg = Hen | 2;`, 'import(no-cycle)'],
  ['src/ledger/floating.ts', `void 0;\nPromise.resolve(1);`, 'typescript(no-floating-promises)'],
  ['src/ledger/voided.ts', `void Promise.resolve(1);`],
  [
    'src/ledger/misused.ts',
    `export const x = (y: () => Promise<boolean>): number => (y() ? 1 : 2);`,
    'typescript(no-misused-promises)',
  ],
  ['src/ledger/awaited.ts', `export const x = await 1;`, 'typescript(await-thenable)'],
  ['src/ledger/thrown.ts', `export const x = (): never => {\n  throw 'text';\n};`, 'typescript(only-throw-error)'],
  ['src/ledger/any.ts', `export const x = (y: any): unknown => y;`, 'typescript(no-explicit-any)'],
  ['src/ledger/parsed.ts', `export const x: string = JSON.parse('1');`, 'typescript(no-unsafe-assignment)'],
  ['src/ledger/default.ts', `export default 1;`, 'import(no-default-export)'],
  ['src/ledger/protocol.ts', `export { readFile } from 'fs';`, 'unicorn(prefer-node-protocol)'],
  ['src/ledger/extension.ts', `export { x } from './parsed';`, 'import(extensions)'],
  ['src/ledger/script-extension.ts', `export { x } from './parsed.js';`, 'import(extensions)'],
  [
    'src/ledger/type.ts',
    `import { Stats } from 'node:fs';\nexport type X = Stats;`,
    'typescript(consistent-type-imports)',
  ],
  ['src/ledger/taskList.ts', `export const x = 1;`, 'unicorn(filename-case)'],
];

describe('the habits of the house', () => {
  let findings: Finding[] = [];

  beforeAll(() => {
    findings = lint(new Map(HABITS.map(([file, code]) => [file, `${code}\n`])));
  });

  test.each(HABITS.filter(([, , rule]) => rule))('%s is refused: %s', (file, _, rule) => {
    expect(findings.filter((finding) => finding.file === file).map((finding) => finding.rule)).toContain(rule);
  });

  test.each(HABITS.filter(([, , rule]) => !rule))('%s is fine: %s', (file) => {
    expect(findings.filter((finding) => finding.file === file)).toEqual([]);
  });
});
