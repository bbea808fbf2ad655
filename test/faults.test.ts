import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Faults of running teams, and the tests that show that they are survived. */
const FAULTS: Readonly<Record<string, { fault: string; in: readonly string[] }>> = {
  F2: { fault: 'kill -9 of a teammate', in: ['e2e/crash'] },
  F3: {
    fault: 'kill -9 of the lead, a lead that stays away, a new lead',
    in: ['e2e/crash', 'core/rules/claim', 'runtime/supervisor'],
  },
  F5: { fault: 'the daemon stopped and continued', in: ['daemon/mishaps'] },
  F7: { fault: 'many who start the daemon at once', in: ['daemon/life'] },
  F8: { fault: 'a number that another process has now', in: ['e2e/stop'] },
  F9: { fault: 'a zombie', in: ['runtime/supervisor'] },
  F10: { fault: 'teammates and views that outlive the daemon', in: ['e2e/crash', 'e2e/panes'] },
  F11: { fault: 'a pane that the user closes, a server of tmux that is killed', in: ['e2e/panes'] },
  F12: { fault: 'an exception that nobody foresaw', in: ['daemon/mishaps'] },
  F20: { fault: 'a file that another program has half written, or written over', in: ['bridge/mail', 'bridge/owed'] },
  F21: { fault: 'garbage in a file of every kind', in: ['bridge/garbage', 'daemon/garbage'] },
  F22: { fault: 'a file made to do harm to who reads it', in: ['bridge/garbage'] },
  F23: { fault: 'a lock that another program holds', in: ['bridge/owed', 'bridge/lock'] },
  F24: { fault: 'a lock that was left behind', in: ['bridge/lock'] },
  F25: { fault: 'what stands in the place of a lock and is none', in: ['bridge/lock'] },
  F26: { fault: 'native directories that are removed', in: ['bridge/mail', 'bridge/sight'] },
  F27: {
    fault: 'another version of the program, or a form that nobody knows',
    in: ['bridge/captures', 'bridge/sight'],
  },
  F28: { fault: 'a clock that is set', in: ['bridge/lock', 'bridge/words'] },
  F29: { fault: 'more changes, or more directories, than can be watched', in: ['bridge/sight'] },
  F30: { fault: 'a file that is replaced while it is watched', in: ['bridge/sight'] },
  F36: { fault: 'names that look the same', in: ['core/rules/member'] },
  F37: { fault: 'hostile names and titles', in: ['cli/hostile', 'runtime/hooks/payload'] },
  F38: { fault: 'a hook that hangs', in: ['runtime/hooks/executors', 'runtime/hooks/verdict'] },
  F39: { fault: 'a hook whose children leave its group', in: ['runtime/hooks/verdict'] },
  F40: { fault: 'a hook that prints without end', in: ['runtime/hooks/verdict'] },
  F41: {
    fault: 'every way in which a hook ends, and rejections in a row',
    in: ['runtime/hooks/verdict', 'core/rules/request'],
  },
  F42: {
    fault: 'many hooks at once, a hook that asks about its own task',
    in: ['runtime/hooks/team-hooks', 'e2e/team'],
  },
  F43: { fault: 'a hook that changes after its approval', in: ['runtime/hooks/approvals'] },
  F56: { fault: 'files of ours that somebody edits by hand', in: ['bridge/shared-tasks'] },
  F54: { fault: 'a member that floods, a lead that spawns', in: ['core/rules/pace'] },
};

describe('every fault', () => {
  test.each(Object.entries(FAULTS))('%s has a test that carries its number', (row, { in: files }) => {
    for (const file of files) {
      // In the title of a test, or of a scene that a test plays.
      const text = readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8');
      expect(text).toMatch(new RegExp(`(['"\`]|^/\\*\\* )${row}: `, 'm'));
    }
  });
});

test('every agent of the fixtures is used', () => {
  const tests = globSync('**/*.test.ts', { cwd: import.meta.dirname }).map((path) =>
    readFileSync(join(import.meta.dirname, path), 'utf8'),
  );
  const agents = globSync('fixtures/agents/*.js', { cwd: import.meta.dirname })
    .map((path) => path.replace(/^.*\/|\.js$/g, ''))
    .filter((name) => name !== 'turn');
  expect(agents.length).toBeGreaterThanOrEqual(8);
  const unused = agents.filter(
    (name) => !tests.some((text) => text.includes(`'${name}'`) || text.includes(`${name}.js`)),
  );
  expect(unused).toEqual([]);
});
