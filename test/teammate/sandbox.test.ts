import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import type { AgentSpec } from '../../src/core/agent.ts';
import { requireRunnable } from '../../src/teammate/runnable.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';

/** A folder with programs of these names and texts. */
function programs(texts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

const check = (spec: AgentSpec, PATH?: string) => () =>
  requireRunnable({ spec, cwd: '/' }, PATH === undefined ? undefined : { PATH, HOME: '/' });

describe('a sandbox is refused', () => {
  test('for agents that cannot run in one, with the reason', () => {
    expect(check({ kind: 'claude-native', sandbox: true })).toThrow(/tmux, is outside of it. Use the agent claude/);
    expect(check({ kind: 'function', sandbox: true })).toThrow(/a function of this process/);
    expect(check({ kind: 'claude', sandbox: { network: 'none' } })).toThrow(/cannot reach its model/);
    expect(check({ kind: 'codex', sandbox: true })).toThrow(/cannot be made inside of another. Give it mode: full/);
    expect(check({ kind: 'codex', sandbox: true, mode: 'full' })).not.toThrow();
    expect(check({ kind: 'claude-native', sandbox: false })).not.toThrow();
    expect(check({ kind: 'exec', command: ['x'], sandbox: { network: 'none' } })).not.toThrow();
  });

  test.runIf(process.platform === 'linux')('where bubblewrap is missing or cannot work, with what to do', () => {
    const spec: AgentSpec = { kind: 'exec', command: ['/bin/sh'], sandbox: true };
    expect(check(spec, programs({}))).toThrow(/bwrap is not on the PATH; .*apt-get install bubblewrap/);
    const forbidden = programs({ bwrap: 'echo "bwrap: No permissions to create new namespace" >&2; exit 1' });
    expect(check(spec, forbidden)).toThrow(/No permissions to create new namespace; allow user namespaces/);
    expect(check(spec, programs({ bwrap: 'exit 1' }))).toThrow(/cannot make a sandbox here; try it/);
    expect(check({ ...spec, sandbox: false }, programs({}))).not.toThrow();
    // What failed is tried again: somebody may have mended it.
    const mended = programs({ bwrap: 'exit 1' });
    expect(check(spec, mended)).toThrow();
    writeFileSync(join(mended, 'bwrap'), '#!/bin/sh\nexit 0\n');
    expect(check(spec, mended)).not.toThrow();
  });
});

const able = findSandbox(process.env);

test('a sandbox that works here is granted', needs(able.program !== undefined, `no sandbox here: ${able.why}`), () => {
  expect(check({ kind: 'exec', command: ['/bin/sh'], sandbox: true }, process.env['PATH'])).not.toThrow();
});
