import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const census = join(import.meta.dirname, '..', '..', 'examples', 'census.ts');

describe('the census', () => {
  it('completes its graph, in the order of the dependencies, and says so', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [census]);
    const lines = stdout.split('\n');
    const [, done, all] = /(\d+) of (\d+) tasks completed/.exec(stdout) ?? [];
    expect(done).toBe(all);
    expect(Number(all)).toBeGreaterThan(5);
    expect(stdout).toMatch(/^src\/ has \d+ lines of TypeScript\.$/m);
    const lastCount = lines.findLastIndex((line) => line.startsWith('●') && line.includes('Count '));
    const gather = lines.findIndex((line) => line.startsWith('◐') && line.includes('Add it up'));
    expect(gather).toBeGreaterThan(lastCount);
    expect(stderr).toBe('');
  });
});
