import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** Enough of an error to know where to look; the full error was printed before. */
const ERROR_LENGTH = 300;
const SLOWEST = 10;
const MOST_FAILURES = 30;

/** Prints at the end of a run, where people look first: steps of long tests, the slowest files, skipped tests with reasons, and failures. */
export class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((one) => [...one.children.allTests()]);
    for (const one of modules) print(`Steps of ${nameOf(one)}:`, steps(one));
    if (modules.length > SLOWEST) print('Slowest files:', slowest(modules));
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    print(`Skipped: ${skipped.length} of ${tests.length} tests`, reasons(skipped));
    const failed = tests.filter((test) => test.result().state === 'failed').map(describe);
    const broken = modules.flatMap((one) => one.errors().map((error) => line(nameOf(one), error)));
    const outside = errors.map((error) => line('outside of a test', error));
    print('Failed:', [...failed, ...broken, ...outside].slice(0, MOST_FAILURES));
  }
}

function slowest(modules: readonly TestModule[]): string[] {
  const timed = modules.map((one) => ({ name: nameOf(one), seconds: one.diagnostic().duration / 1_000 }));
  const first = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  return first.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`);
}

function steps(one: TestModule): string[] {
  const taken = [...one.children.allTests()].flatMap((test) => test.meta().steps ?? []);
  return taken.map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`);
}

/** Each reason with the number of its tests, and the command that runs those files once the reason is gone. */
function reasons(skipped: readonly TestCase[]): string[] {
  const lines = [...Map.groupBy(skipped, whySkipped)].flatMap(([why, tests]) => {
    const files = [...new Set(tests.map(({ module }) => nameOf(module)))];
    return [`${tests.length} because ${why}`, `  npx vitest run ${files.join(' ')}`];
  });
  return lines.length === 0 ? [] : [...lines, 'Each command runs its tests once the reason is gone.'];
}

function whySkipped(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  for (let one: TestCase | TestCase['parent'] = test; ; one = one.parent) {
    if (note !== undefined || one.type === 'module') return note ?? 'it is not chosen in this run';
    const { skipReason } = one.meta();
    if (skipReason !== undefined) return skipReason;
  }
}

function describe(test: TestCase): string {
  return line(`${nameOf(test.module)} > ${test.fullName}`, test.result().errors?.[0]);
}

function nameOf({ moduleId, project }: TestModule): string {
  return relative(project.config.root, moduleId);
}

function line(where: string, error: Pick<SerializedError, 'message'> | undefined): string {
  return `${where}: ${(error?.message ?? '').replace(/\s+/g, ' ').slice(0, ERROR_LENGTH)}`;
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${[title, ...lines].join('\n  ')}\n`);
}
