import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** What is enough to know where to look; the whole of it was printed before. */
const WORDS = 300;
/** Where no deadline of another program can be missed, and what went wrong once is wrong: a claim that was double, an event that was lost. */
const STRICT = /^test\/(core|journal|ledger|lint)\//;

/**
 * Says at the very end, where a long log is read first, which tests failed and which passed only when they were tried again. The
 * latter are faults as well, of the test or of the program: somebody has to look.
 */
export class LastWords implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((one) => [...one.children.allTests()]);
    const failed = tests.filter((test) => test.result().state === 'failed');
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    const broken = modules.flatMap((one) => one.errors().map((error) => line(nameOf(one), error)));
    print('Failed:', [...failed.map(describe), ...broken, ...errors.map((error) => line('outside of a test', error))]);
    print('Passed only when tried again:', flaky.map(describe));
    const strict = flaky.filter(({ module }) => STRICT.test(nameOf(module)));
    print('And that is not enough for these:', strict.map(describe));
    if (strict.length > 0) process.exitCode = 1;
  }
}

function print(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${[title, ...lines.slice(0, 30)].join('\n  ')}\n`);
}

function describe(test: TestCase): string {
  return line(`${nameOf(test.module)} > ${test.fullName}`, test.result().errors?.[0]);
}

function nameOf({ moduleId, project }: TestModule): string {
  return relative(project.config.root, moduleId);
}

function line(where: string, error: Pick<SerializedError, 'message'> | undefined): string {
  return `${where}: ${(error?.message ?? '').replace(/\s+/g, ' ').slice(0, WORDS)}`;
}
