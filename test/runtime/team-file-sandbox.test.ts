import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashHook, hashSetup } from '../../src/runtime/hooks/approvals.ts';
import { choiceOf, specIn } from '../../src/runtime/team-file/agents.ts';
import { exposedIn, programsOf } from '../../src/runtime/team-file/approval.ts';
import { hooksOf } from '../../src/runtime/team-file/hooks.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { findUnrunnable } from '../../src/runtime/team-file/runnable.ts';
import { setupOf } from '../../src/runtime/team-file/setup.ts';
import { requireAllRunnable } from '../../src/teammate/runnable.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const read = (content: object) => parseTeamFile(JSON.stringify({ team: 'crew', ...content }), 'troupe.yaml');

describe('the sandbox of a team file', () => {
  test('is that of the member, else of its agent, else of the file, also for those that a lead starts', () => {
    const file = read({
      sandbox: true,
      lead: { agent: 'claude' },
      agents: { net: { agent: 'codex', sandbox: { network: ['github.com'] } }, codex: {} },
      members: [
        { name: 'a', agent: 'claude' },
        { name: 'b', agent: 'net' },
        { name: 'c', agent: 'net', sandbox: { network: 'none' } },
        { name: 'd', agent: { exec: './x.sh' }, sandbox: false },
      ],
    });
    expect(file.members.map((member) => specIn(file, member).sandbox)).toEqual([
      true,
      { network: ['github.com'] },
      { network: 'none' },
      undefined,
    ]);
    expect(choiceOf(file)).toEqual({
      net: { kind: 'codex', sandbox: { network: ['github.com'] } },
      codex: { kind: 'codex', sandbox: true },
    });
  });

  test('holds for agents that stand in', () => {
    const members = [{ name: 'a', agent: 'claude', onLimit: { fallback: ['codex'] }, sandbox: true, mode: 'full' }];
    expect(exposedIn(read({ members }), '/')).toEqual([]);
    expect(exposedIn(read({ members: [{ ...members[0], sandbox: false }], sandbox: true }), '/')).toEqual(['a']);
    expect(exposedIn(read({ lead: { agent: 'claude', mode: 'full' } }), '/')).toEqual(['lead']);
  });

  test('of gates and setup is their own, and part of what is approved', () => {
    const folder = temporaryFolder();
    const sandbox = { network: ['registry.npmjs.org'] };
    const file = (box: object) =>
      read({
        sandbox: true,
        hooks: { TaskCompleted: { command: 'true', ...box } },
        work: { setup: { command: 'true', ...box } },
      });
    const [plain] = hooksOf(file({}), folder);
    const [boxed] = hooksOf(file({ sandbox }), folder);
    expect(plain).not.toHaveProperty('sandbox');
    expect(boxed).toMatchObject({ sandbox });
    expect(setupOf(file({ sandbox }), folder)).toMatchObject({ sandbox });
    const hook = { command: 'true', executor: 'shell' } as const;
    const hashes = [undefined, true, sandbox].map((one) => hashHook({ ...hook, sandbox: one }, folder));
    expect(new Set(hashes).size).toBe(3);
    expect(hashHook({ ...hook, sandbox: false }, folder)).toBe(hashes[0]);
    expect(hashSetup({ command: 'true', sandbox: true }, folder)).not.toBe(hashSetup({ command: 'true' }, folder));
  });

  test('cannot be dropped from an approved program without a question', () => {
    const folder = temporaryFolder();
    const hashOf = (box: object) =>
      programsOf(read({ members: [{ name: 'a', agent: { exec: './x.sh' }, ...box }] }), folder)[0]?.hash;
    expect(hashOf({ sandbox: true })).not.toBe(hashOf({}));
    expect(hashOf({ sandbox: { network: ['*'] } })).not.toBe(hashOf({ sandbox: true }));
  });

  test('cannot open the state directory, also by another path: the file is refused, with the position', () => {
    const [folder, state] = [temporaryFolder(), temporaryFolder()];
    const link = join(folder, 'link');
    symlinkSync(state, link);
    const refusals = (lines: readonly string[]): string[] => {
      const source = ['team: crew', ...lines].join('\n');
      const file = parseTeamFile(source, 'troupe.yaml');
      return findUnrunnable(file, { source, name: 'troupe.yaml', folder }, (agents) =>
        requireAllRunnable(agents, { PATH: process.env['PATH'], HOME: folder }, { state }),
      );
    };
    const why = (path: string): string => `a sandbox cannot open ${path}: it is in the state directory of Troupe`;
    const ann = ['members:', '  - name: ann', '    agent: { exec: [sh] }'];
    expect(refusals([...ann, `    sandbox: { read: [${state}] }`])).toEqual([`troupe.yaml:5:14: ${why(state)}`]);
    expect(refusals([...ann, '    sandbox: { write: [~/link] }'])).toEqual([`troupe.yaml:5:14: ${why('~/link')}`]);
    const inside = join(state, 'token');
    expect(refusals([`sandbox: { read: [${inside}] }`, ...ann])).toEqual([`troupe.yaml:2:10: ${why(inside)}`]);
    const box = ['agents:', `  box: { agent: { exec: [sh] }, sandbox: { read: [${link}] } }`];
    expect(refusals([...box, 'members: [{ name: ann, agent: box }]'])).toEqual([
      expect.stringMatching(new RegExp(`^troupe\\.yaml:3:\\d+: ${why(link)}$`)),
    ]);
  });
});
