import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { HookConfig } from '../../src/core/hook.ts';
import { viewTask, viewTeam } from '../../src/core/view.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { agentsOf } from '../../src/runtime/team-file/file-agents.ts';
import { hooksOf } from '../../src/runtime/team-file/hooks.ts';
import { describeKept } from '../../src/runtime/team-file/kept.ts';
import { parseTeamFile } from '../../src/runtime/team-file/parse.ts';
import { placeOf } from '../../src/runtime/team-file/place.ts';
import { raiseTeam } from '../../src/runtime/team-file/raise.ts';
import { findBadReferences } from '../../src/runtime/team-file/references.ts';
import { openLedger } from '../ledger/places.ts';
import { mustEnd } from '../must-end.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const DIAMOND = `team: diamond
members:
  - { name: a, role: builder, agent: { exec: ./work.sh } }
  - { name: b, agent: claude, model: opus, plan: required }
tasks:
  - { id: last, title: Last, needs: [left, right] }
  - { id: root, title: Root }
  - { id: left, title: Left, needs: [root], assign: b }
  - { id: right, title: Right, needs: [root], priority: high }
hooks:
  TaskCompleted: { command: ./gate.sh, timeout: 10s, onFailure: block }
`;

describe('a team file', () => {
  test('is read with all its fields', () => {
    expect(parseTeamFile(DIAMOND, 'troupe.yaml')).toMatchObject({
      team: 'diamond',
      members: [
        { name: 'a', agent: { exec: './work.sh' } },
        { name: 'b', agent: 'claude', plan: 'required' },
      ],
      tasks: [{ id: 'last', needs: ['left', 'right'] }, { id: 'root' }, { id: 'left' }, { id: 'right' }],
    });
    expect(parseTeamFile('team: small', 'x')).toEqual({ team: 'small', members: [], tasks: [] });
    expect(parseTeamFile('{"team": "json", "lead": "person"}', 'x')).toMatchObject({ lead: 'person' });
  });

  test('accepts the example in the documentation of team files', () => {
    const page = readFileSync(new URL('../../docs/team-files.md', import.meta.url), 'utf8');
    const [, shown = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    expect(parseTeamFile(shown, 'docs/team-files.md')).toMatchObject({ team: 'parser', lead: { agent: 'claude' } });
  });

  test('with a literal secret in variables, commands, arguments or hooks is refused, with what to write instead', () => {
    const told = messageOf(() =>
      parseTeamFile(
        `team: x
agents:
  claude: { args: [--token, ghp_abcdefghij0123456789] }
lead: { agent: claude, env: { DATABASE: 'postgres://me:hunter2@db/x' } }
members:
  - name: a
    agent: { exec: 'curl -u sk-live-0123456789 https://x' }
    env:
      MY_API_KEY: not-of-a-known-shape
  - { name: b, agent: { acp: [run, 'https://me:hunter2@x/'] } }
hooks:
  TaskCompleted: { command: 'TOKEN=sk-live-0123456789 ./gate.sh' }
`,
        't.yaml',
      ),
    ).split('\n');
    expect(told.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      't.yaml:3:29: agents.claude.args[1]',
      't.yaml:4:41: lead.env.DATABASE',
      't.yaml:7:20: members[0].agent.exec',
      't.yaml:9:19: members[0].env.MY_API_KEY',
      't.yaml:10:36: members[1].agent.acp[1]',
      't.yaml:12:29: hooks.TaskCompleted.command',
    ]);
    expect(told[3]).toBe(
      't.yaml:9:19: members[0].env.MY_API_KEY is a secret in plain text, which the journal would keep: ' +
        'write ${MY_API_KEY}, which takes it from the environment of troupe up, or without a team file from that of the daemon',
    );
    expect(told.join('\n')).not.toMatch(/hunter2|sk-live|ghp_|known-shape/);
  });

  test.each<[string, string, RegExp]>([
    ['no name', 'members: []\n', /^t\.yaml:1:1: team is missing: it takes a text \(its name\)$/],
    [
      'nothing',
      '',
      /^t\.yaml:1:1: the file is empty: it needs at least "team: NAME"; troupe init writes a complete one$/,
    ],
    ['no YAML', 'team: x\nmembers: [\n', /^t\.yaml:\d+:\d+: .*[^:]$/],
    ['a brace left open', 'team: x\nmembers:\n  - { name: a\ntasks: []\n', /^t\.yaml:4:1: Flow map .* end with a \}$/],
    ['a tab', 'team: x\n\tmembers: []\n', /^t\.yaml:2:1: /],
    ['a key twice', 'team: x\nteam: y\n', /^t\.yaml:2:1: Map keys must be unique/],
    [
      'a word that is not known',
      'team: x\nmembrs: []\n',
      /^t\.yaml:2:1: there is no key "membrs"; did you mean members\?$/,
    ],
    [
      'a bad name',
      'team: x\nmembers:\n  - { name: "../b", agent: claude }\n',
      /^t\.yaml:3:13: members\[0\]\.name "\.\.\/b" is not a name/,
    ],
    [
      'no agent',
      'team: x\nmembers:\n  - name: b\n',
      /^t\.yaml:3:5: members\[0\]\.agent is missing: it takes a text .*, or \{ exec: … \}/,
    ],
    [
      'two members of one name',
      'team: x\nmembers:\n  - { name: b, agent: claude }\n  - { name: b, agent: claude }\n',
      /^t\.yaml:4:13: there are two members "b"$/,
    ],
    [
      'two tasks of one id',
      'team: x\ntasks:\n  - { id: a, title: A }\n  - { id: a, title: B }\n',
      /^t\.yaml:4:11: there are two tasks "a"$/,
    ],
    [
      'a task that is not there',
      'team: x\ntasks:\n  - { id: a, title: A, needs: [b] }\n',
      /^t\.yaml:3:32: no task has the id "b"$/,
    ],
    [
      'a member who is not there',
      'team: x\ntasks:\n  - { title: A, assign: bob }\n',
      /^t\.yaml:3:25: there is no member "bob"$/,
    ],
    [
      'a task and a member by names that are nearly theirs',
      'team: x\nmembers:\n  - { name: ann, agent: claude }\ntasks:\n  - { id: build, title: A }\n  - { id: test, title: B, needs: [bulid], assign: anna }\n',
      /^t\.yaml:6:35: no task has the id "bulid"; did you mean build\?\nt\.yaml:6:51: there is no member "anna"; did you mean ann\?$/,
    ],
    [
      'tasks by their titles',
      'team: x\ntasks:\n  - { id: a, title: Build it }\n  - { title: Test it }\n  - { title: C, needs: [build it, Test it] }\n',
      /^t\.yaml:5:25: no task has the id "build it"; did you mean a\?\nt\.yaml:5:35: no task has the id "Test it"; a task has that title: give it an id$/,
    ],
    [
      'names that are near to none',
      'team: x\nmembers:\n  - { name: ann, agent: claude }\ntasks:\n  - { id: a, title: A, assign: robert }\n  - { title: B, needs: [zzz] }\n',
      /^t\.yaml:5:32: there is no member "robert"; there is ann\nt\.yaml:6:25: no task has the id "zzz"; there is a$/,
    ],
    [
      'a circle',
      'team: x\ntasks:\n  - { id: a, title: A, needs: [c] }\n  - { id: b, title: B, needs: [a] }\n  - { id: c, title: C, needs: [b] }\n',
      /^t\.yaml:3:31: these tasks wait for each other: a needs c needs b needs a$/,
    ],
    [
      'a circle beside a task that is not there',
      'team: x\ntasks:\n  - { id: a, title: A, needs: [b] }\n  - { id: b, title: B, needs: [a, c] }\n',
      /^t\.yaml:3:31: these tasks wait for each other: a needs b needs a\nt\.yaml:4:35: no task has the id "c"; there is a$/,
    ],
    [
      'words that are not known beside names that are not there',
      'team: x\nmembers:\n  - { name: b, agent: 5 }\ntasks:\n  - { id: a, title: A, needs: [c], prio: high, assign: bob }\n',
      /^t\.yaml:3:23: members\[0\]\.agent .*\nt\.yaml:5:32: no task has the id "c"\nt\.yaml:5:36: .*no key "prio".*\nt\.yaml:5:56: there is no member "bob"; there is b$/,
    ],
    [
      'agents that are not known, all of them, beside what else is wrong',
      'team: x\nagents:\n  eyes: { agent: codx }\nlead: { agent: cluade }\nmembers:\n  - { name: a, agent: eyes }\n  - { name: b, agent: mine, command: ./mine }\n  - { name: c, agent: exec, rol: x }\n',
      /^t\.yaml:4:16: there is no agent named "cluade": did you mean claude\?.*\nt\.yaml:6:23: there is no agent named "codx": did you mean codex\?.*\nt\.yaml:8:23: the agent exec is any program: name it.*\nt\.yaml:8:29: .*no key "rol".*$/,
    ],
    [
      'a program that is named like an agent, with its command beside it',
      'team: x\nagents:\n  nap: { agent: exec, command: ./nap }\nmembers:\n  - { name: a, agent: nap }\n  - { name: b, agent: team, command: ./x }\n  - { name: c, agent: acp, command: ./mine }\n',
      /^t\.yaml:5:23: the agent exec is any program: name it.*\nt\.yaml:6:23: the agent team is a team of its own: name its file.*$/,
    ],
    [
      'members under a misspelt word, who are not told as missing as well',
      'team: x\nmembrs:\n  - { name: b, agent: claude }\ntasks:\n  - { title: A, assign: b, needs: [a] }\n  - { idd: a, title: B }\n',
      /^t\.yaml:2:1: there is no key "membrs"; did you mean members\?\nt\.yaml:6:7: .*no key "idd".*$/,
    ],
    [
      'a task that waits for itself',
      'team: x\ntasks:\n  - { id: a, title: A, needs: [a] }\n',
      /^t\.yaml:3:31: these tasks wait for each other: a needs a$/,
    ],
    [
      'a duration that is none',
      'team: x\nhooks:\n  TaskCompleted: { command: x, timeout: soon }\n',
      /^t\.yaml:3:41: hooks\.TaskCompleted\.timeout must be a duration above 0, such as "10s" or "2m"$/,
    ],
    [
      'a duration without a unit',
      'team: x\nbudget: { time: 30 }\n',
      /^t\.yaml:2:17: budget\.time needs a unit: ms, s, m or h, such as "30s" or "30m"$/,
    ],
    [
      'no time at all',
      'team: x\nbudget: { time: 0m }\n',
      /^t\.yaml:2:17: budget\.time must be a duration above 0, such as "10s" or "2m"$/,
    ],
    [
      'a fallback that nobody knows',
      'team: x\nonLimit: { fallback: [codx] }\n',
      /^t\.yaml:2:23: there is no agent named "codx": did you mean codex\?/,
    ],
    [
      'a login as a fallback that no agent of the file has',
      'team: x\nmembers:\n  - { name: ada, agent: claude, onLimit: { fallback: [codex, claude@second] } }\n',
      /^t\.yaml:3:62: no agent of this file is claude with the account second: add agents: \{ second: \{ agent: claude, account: second, env: \{ CLAUDE_CONFIG_DIR: … \} \} \}$/,
    ],
    [
      'a program as a fallback of a lead',
      'team: x\nagents: { prog: { agent: { exec: ./a.sh } } }\nlead: { agent: claude, onLimit: { fallback: [prog] } }\n',
      /^t\.yaml:3:46: prog cannot stand in for a lead: it reads no messages$/,
    ],
    [
      'a fallback that nothing keeps from working before its plan is approved',
      'team: x\nagents: { prog: { agent: { exec: ./a.sh } } }\nonLimit: { fallback: [prog] }\nmembers:\n  - { name: ada, agent: claude, plan: required }\n',
      /^t\.yaml:3:23: prog cannot stand in: nothing keeps it from work before its plan is approved$/,
    ],
    [
      'a teammate of a native team as a fallback',
      'team: x\nonLimit: { ask: [claude-native] }\n',
      /^t\.yaml:2:18: claude-native cannot stand in: .*native team/,
    ],
    ['no money at all', 'team: x\nbudget: { usd: 0 }\n', /^t\.yaml:2:16: budget\.usd must be more than 0$/],
    [
      'a hook of no kind',
      'team: x\nhooks:\n  Nonsense: { command: x }\n',
      /^t\.yaml:3:3: there is no key "Nonsense" in hooks; there is TeammateIdle, TaskCompleted/,
    ],
    [
      'a misspelt key where a form was almost hit',
      'team: x\nmembers:\n  - name: b\n    agent: { exc: x }\n',
      /^t\.yaml:4:14: there is no key "exc" in members\[0\]\.agent; did you mean exec\?$/,
    ],
    [
      'a misspelt key that is also missing, told once',
      'team: x\ntasks:\n  - titel: A\n',
      /^t\.yaml:3:5: there is no key "titel" in tasks\[0\]; did you mean title\?$/,
    ],
    [
      'a form that is none of those accepted',
      'team: x\nmembers:\n  - name: b\n    agent: 3\n',
      /^t\.yaml:4:12: members\[0\]\.agent cannot be 3: it takes a text .*, or \{ exec: … \}, or \{ acp: … \}, or \{ team: … \}; in quotes it is one: "3"$/,
    ],
    [
      'a value that does not fit in the only form that has its key',
      'team: x\nmembers:\n  - name: b\n    agent: { exec: true }\n',
      /^t\.yaml:4:20: members\[0\]\.agent\.exec cannot be true: it takes a text/,
    ],
    [
      'a misspelt word',
      'team: x\nlead: persn\n',
      /^t\.yaml:2:7: lead cannot be "persn" \(did you mean person\?\): it takes none or person, or \{ agent: … \}$/,
    ],
    [
      'one host in place of a list',
      'team: x\nsandbox: { network: example.com }\n',
      /^t\.yaml:2:21: sandbox\.network must be a list of hosts, such as \[example\.com\], or none$/,
    ],
    [
      'a list of servers of tools',
      'team: x\nmembers:\n  - { name: b, agent: claude, mcp: [docs] }\n',
      /^t\.yaml:3:36: members\[0\]\.mcp must be a map of servers by name, such as \{ docs: \{ command: \[docs-server\] \} \}/,
    ],
    [
      'a server with the name of the own one',
      'team: x\nmembers:\n  - { name: b, agent: claude, mcp: { troupe: { command: [docs] } } }\n',
      /^t\.yaml:3:46: members\[0\]\.mcp\.troupe is the server of the team itself: choose another name than troupe$/,
    ],
    [
      'a server whose name is none',
      'team: x\nmembers:\n  - { name: b, agent: claude, mcp: { My Docs: { command: [docs] } } }\n',
      /^t\.yaml:3:47: members\[0\]\.mcp\.My Docs "My Docs" is not a name .*; try "my-docs"$/,
    ],
    [
      'a command of notices that is a text',
      'team: x\nnotify: { command: notify-send }\n',
      /^t\.yaml:2:20: notify\.command must be a list: \[program, argument\]$/,
    ],
    ['several places that are no YAML', 'team: x\nmembers: [a\ntasks: "b\nteam: y\n', /^t\.yaml:3:.*\nt\.yaml:/],
    [
      'several faults, each on a line of its own in the order of the file',
      'team: x\nmode: tmx\nlimits: { maxTeammates: 99 }\ntasks:\n  - { title: 1 }\n',
      /^t\.yaml:2:7: mode cannot .*\nt\.yaml:3:25: limits\.maxTeammates must be at most 32\nt\.yaml:5:14: tasks\[0\]\.title cannot be 1: it takes a text \(what is to be done, in one line\); in quotes it is one: "1"$/,
    ],
  ])('with %s is refused, with line and column', (_what, text, message) => {
    expect(() => parseTeamFile(text, 't.yaml')).toThrow(
      expect.objectContaining({
        name: 'TeamError',
        code: 'invalid',
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  test('with endlessly growing aliases is refused before they are expanded', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
      bomb.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(', ')}]`);
    }
    expect(() => parseTeamFile(`team: x\n${bomb.join('\n')}\n`, 't.yaml')).toThrow(
      expect.objectContaining({
        name: 'TeamError',
        code: 'invalid',
        message: 't.yaml: Excessive alias count indicates a resource exhaustion attack',
      }),
    );
  });

  test('with an exponential number of dependency paths is checked', () => {
    const tasks = Array.from({ length: 200 }, (_, i) => ({
      id: `t${i}`,
      title: `T${i}`,
      needs: Array.from({ length: Math.min(i, 3) }, (_unused, j) => `t${i - j - 1}`),
    }));
    const text = JSON.stringify({ team: 'x', tasks: tasks.toReversed() });
    mustEnd(() => parseTeamFile(text, 't.yaml'));
  });

  test('with the longest possible chain of tasks is checked to its end', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => ({ id: `t${i}`, title: 'T', needs: [`t${i + 1}`] }));
    const tasks = [...chain, { id: 't20000', title: 'T', needs: [] as string[] }];
    expect(findBadReferences({ team: 'x', tasks }, [])).toEqual([]);
    tasks.at(-1)?.needs.push('t19999');
    expect(findBadReferences({ team: 'x', tasks }, [])).toMatchObject([
      { text: 'these tasks wait for each other: t19999 needs t20000 needs t19999' },
    ]);
  });
});

describe('a team', () => {
  test('is made from its file', async () => {
    const { raise, team, tasks, folder } = setStage();
    await raise(DIAMOND);
    expect(await team()).toMatchObject({
      name: 'diamond',
      members: [
        { id: 'lead' },
        {
          id: 'a',
          role: 'builder',
          status: 'spawning',
          cwd: folder,
          agent: { kind: 'exec', command: ['/bin/sh', '-c', './work.sh'] },
        },
        { id: 'b', model: 'opus', planModeRequired: true, agent: { kind: 'claude', model: 'opus' } },
      ],
    });
    expect(await tasks()).toMatchObject([
      { id: '1', title: 'Last', status: 'blocked', dependencies: ['3', '4'] },
      { id: '2', title: 'Root', status: 'pending' },
      { id: '3', title: 'Left', dependencies: ['2'], assigneeId: 'b' },
      { id: '4', title: 'Right', dependencies: ['2'], priority: 'high' },
    ]);
  });

  test('gets only what is missing when its file is applied again', async () => {
    const { ledger, raise, team, tasks } = setStage();
    await raise(DIAMOND);
    const seq = await ledger.view('diamond', (_state, last) => last);
    await raise(DIAMOND);
    expect(await ledger.view('diamond', (_state, last) => last)).toBe(seq);
    const more = DIAMOND.replace('tasks:', '  - { name: c, agent: { exec: [node, c.js] } }\ntasks:').replace(
      'hooks:',
      '  - { id: after, title: After, needs: [last] }\nhooks:',
    );
    await ledger.execute('diamond', { type: 'task.complete', by: USER, taskId: '2' }, () => undefined);
    await raise(more);
    expect((await team()).members.map(({ id }) => id)).toEqual(['lead', 'a', 'b', 'c']);
    expect(await tasks()).toMatchObject([
      { id: '1' },
      { id: '2', status: 'completed' },
      { id: '3', status: 'pending' },
      { id: '4' },
      { id: '5', title: 'After', dependencies: ['1'] },
    ]);
  });

  test('says what it keeps although its file says something else', async () => {
    const { ledger, raise } = setStage();
    await raise(DIAMOND);
    const kept = (text: string): Promise<string[]> =>
      ledger.view('diamond', (state) => describeKept(state, parseTeamFile(text, 'troupe.yaml')));
    expect(await kept(DIAMOND)).toEqual([]);
    const other = DIAMOND.replace('./work.sh', './other.sh')
      .replace('model: opus, plan: required', 'model: opus, prompt: Be brief')
      .replace('title: Root', 'title: Base')
      .replace('title: Left', 'title: West');
    await ledger.execute('diamond', { type: 'task.complete', by: USER, taskId: '2' }, () => undefined);
    expect(await kept(other)).toEqual([
      'a already runs and keeps its agent; the file says something else now. To start it with that: troupe member stop a --team diamond, then troupe up again.',
      'b already runs and keeps its prompt, plan; the file says something else now. To start it with that: troupe member stop b --team diamond, then troupe up again.',
      'Task #2 ("Root") is over, so "Base" is not added in its place. To add it, put it at the end of the list, or give it an id of its own.',
      'Task #3 ("Left") keeps its text; the file says something else now. To change it: troupe task update 3 --team diamond.',
    ]);
    const leave = { type: 'member.leave', by: USER, memberId: 'a', returning: false } as const;
    await ledger.execute('diamond', leave, () => undefined);
    expect((await kept(other)).filter((line) => line.startsWith('a '))).toEqual([]);
  });

  test('starts a stopped member again, and no other', async () => {
    const { ledger, raise, team } = setStage();
    await raise(DIAMOND);
    const leave = { type: 'member.leave', by: USER, memberId: 'a', returning: false } as const;
    await ledger.execute('diamond', leave, () => undefined);
    await raise(DIAMOND);
    expect((await team()).members.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'lead active',
      'a spawning',
      'b spawning',
    ]);
  });

  test('reserves the tasks of its file for a member again when that member comes back', async () => {
    const { ledger, raise, tasks } = setStage();
    const file = `team: diamond
members:
  - { name: a, agent: { exec: ./work.sh } }
  - { name: b, agent: { exec: ./work.sh } }
  - { name: c, agent: { exec: ./work.sh } }
tasks:
  - { id: for-a, title: For a, assign: a }
  - { id: for-b, title: For b, assign: b, needs: [for-a] }
  - { id: taken, title: Taken by c meanwhile, assign: b }
  - { id: given, title: Given to c by hand, assign: a }
`;
    await raise(file);
    await ledger.execute('diamond', { type: 'task.claim', by: 'a', taskId: '1' }, () => undefined);
    for (const memberId of ['a', 'b']) {
      const leave = { type: 'member.leave', by: USER, memberId, returning: false } as const;
      await ledger.execute('diamond', leave, () => undefined);
    }
    expect((await tasks()).map(({ assigneeId }) => assigneeId)).toEqual([undefined, undefined, undefined, undefined]);
    await ledger.execute('diamond', { type: 'task.claim', by: 'c', taskId: '3' }, () => undefined);
    await ledger.execute('diamond', { type: 'task.assign', by: USER, taskId: '4', assigneeId: 'c' }, () => undefined);
    const before = await ledger.view('diamond', (_state, last) => last);
    await raise(file);
    expect((await tasks()).map(({ assigneeId }) => assigneeId)).toEqual(['a', 'b', 'c', 'c']);
    // One batch: at no moment are they back while their tasks are free.
    expect(await ledger.view('diamond', (_state, last) => last)).toBe(before + 1);
  });

  test('does not reserve tasks again that were freed while its members work', async () => {
    const { ledger, raise, tasks } = setStage();
    await raise(DIAMOND);
    await ledger.execute('diamond', { type: 'task.assign', by: USER, taskId: '3', assigneeId: null }, () => undefined);
    await raise(DIAMOND);
    expect((await tasks())[2]).toMatchObject({ title: 'Left', assigneeId: undefined });
  });

  test('gets the present hooks and limits of its file, and keeps hooks that were registered otherwise', async () => {
    const { ledger, raise, folder, judged } = setStage();
    const [plain = '', gate = ''] = DIAMOND.split('hooks:\n');
    const hooks = () => ledger.view('diamond', (state) => state.team?.hooks.map(({ command }) => command));
    await raise(plain);
    const hook = { type: 'TaskCompleted', command: 'by hand', cwd: folder } as const;
    const register = { type: 'hook.register', by: USER, hook: HookConfig.parse(hook) } as const;
    await ledger.execute('diamond', register, () => undefined);
    await raise(`${plain}hooks:\n${gate}`);
    expect(await hooks()).toEqual(['by hand', './gate.sh']);
    writeFileSync(join(folder, 'gate.sh'), 'exit 1');
    await raise(`${plain}hooks:\n${gate}`);
    expect(await hooks()).toEqual(['by hand', './gate.sh']);
    const bound = await ledger.view('diamond', (state) => state.team?.hooks[1]?.approved);
    expect(bound).toBe(hooksOf(parseTeamFile(DIAMOND, 'troupe.yaml'), folder)[0]?.approved);
    await raise(
      `${plain}  - { id: new, title: New }\nlimits: { maxTeammates: 3 }\nhooks: { TaskCreated: { command: 'true' } }`,
    );
    expect(await hooks()).toEqual(['by hand', 'true']);
    expect(judged.at(-1)).toEqual(['by hand', 'true']);
    expect(await ledger.view('diamond', (state) => state.team?.maxTeammates)).toBe(3);
  });

  test('gets the quiet hours and the restarts of its file, its members too', async () => {
    const { ledger, raise } = setStage();
    const now = () =>
      ledger.view('diamond', ({ team, members }) => [
        team?.quietHours,
        team?.restartsPerNight,
        ...['lead', 'left'].map((name) => members.get(name)?.quietHours),
      ]);
    const file = (night: string, own = ''): string =>
      `team: diamond\n${night}\nlead: { agent: { exec: ./lead.sh }${own} }\nmembers:\n  - { name: left, agent: { exec: ./a.sh }${own} }\n`;
    await raise(file("quietHours: '22:00-07:00'", ', quietHours: 12:00-13:00'));
    expect(await now()).toEqual(['22:00-07:00', undefined, '12:00-13:00', '12:00-13:00']);
    await raise(file('quietHours: off\nlimits: { restartsPerNight: 5 }', ', quietHours: off'));
    expect(await now()).toEqual(['off', 5, 'off', 'off']);
  });

  test('gives its members and its lead their fallbacks, with what each member may do without asking', async () => {
    const { ledger, raise } = setStage();
    const file = (onLimit: string): string => `
team: diamond
onLimit: ${onLimit}
agents:
  second: { agent: claude, account: second, env: { CLAUDE_CONFIG_DIR: '\${HOME}/.claude-second' } }
lead: { agent: claude, onLimit: ask }
members:
  - { name: left, agent: claude, model: opus, mode: full, permissions: { deny: ['WebFetch'] } }
`;
    const second = { kind: 'claude', account: 'second', env: { CLAUDE_CONFIG_DIR: '${HOME}/.claude-second' } };
    const rights = { mode: 'full', permissions: { deny: ['WebFetch'] } };
    const now = () => ledger.view('diamond', ({ team, members }) => [team, members.get('lead'), members.get('left')]);
    await raise(file('{ fallback: [codex, claude@second] }'));
    expect(await now()).toMatchObject([
      { onLimit: { policy: 'fallback', agents: [{ name: 'codex' }, { name: 'claude@second', agent: second }] } },
      { onLimit: { policy: 'ask', agents: [] } },
      {
        onLimit: {
          policy: 'fallback',
          agents: [
            { name: 'codex', agent: { kind: 'codex', ...rights } },
            { name: 'claude@second', agent: { ...second, ...rights } },
          ],
        },
      },
    ]);
    await raise(file('wait'));
    expect((await now())[2]).toMatchObject({ onLimit: { policy: 'wait', agents: [] } });
  });

  test('belongs to the folder of its file: from another folder it is refused, open or closed', async () => {
    const { ledger, raise, folder, team } = setStage();
    const other = temporaryFolder();
    for (const place of [folder, other]) writeFileSync(join(place, 'troupe.yaml'), DIAMOND);
    await raise(DIAMOND);
    const before = await team();
    const both = new RegExp(`belongs to ${folder}, not to ${other}: give this one another name`);
    await expect(raise(DIAMOND, other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(both),
    });
    expect(await team()).toEqual(before);
    // The same folder under another path is the same folder.
    const link = join(other, 'link');
    symlinkSync(folder, link);
    await raise(DIAMOND, link);
    await ledger.execute('diamond', { type: 'team.close', by: USER, force: true }, () => undefined);
    await expect(raise(DIAMOND, other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/troupe up --again in its own folder.*troupe team delete diamond$/),
    });
  });

  test('moves with its folder, with the gates of the new one only, as soon as nobody works in the old one', async () => {
    const { ledger, raise, folder, team } = setStage();
    writeFileSync(join(folder, 'troupe.yaml'), DIAMOND);
    await raise(DIAMOND);
    const moved = join(temporaryFolder(), 'moved');
    renameSync(folder, moved);
    await expect(raise(DIAMOND, moved)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/and a, b may still work there: stop them first with troupe member stop/),
    });
    for (const memberId of ['a', 'b']) {
      const leave = { type: 'member.leave', by: USER, memberId, returning: false } as const;
      await ledger.execute('diamond', leave, () => undefined);
    }
    await raise(DIAMOND, moved);
    const { hooks, members, metadata } = await team();
    expect(hooks.map(({ cwd }) => cwd)).toEqual([moved]);
    expect(members.slice(1).map(({ cwd }) => cwd)).toEqual([moved, moved]);
    expect(metadata).toMatchObject({ folder: moved, file: 'troupe.yaml' });
  });

  test.each<[string, (file: string) => void]>([
    ['is gone', (file) => rmSync(file)],
    ['names another team by now', (file) => writeFileSync(file, 'team: another\n')],
  ])('may be taken by another folder if its file %s', async (_what, change) => {
    const { raise, folder } = setStage();
    const empty = 'team: diamond\n';
    writeFileSync(join(folder, 'troupe.yaml'), empty);
    await raise(empty);
    const other = temporaryFolder();
    await expect(raise(empty, other)).rejects.toMatchObject({ code: 'conflict' });
    change(join(folder, 'troupe.yaml'));
    await raise(empty, other);
  });

  test('of another machine is compared by path: the same path is the same folder, any other is refused', async () => {
    const { raise, folder } = setStage();
    await raise('team: diamond\n', '/not/on/this/machine', 'alpha');
    await raise('team: diamond\n', '/not/on/this/machine', 'beta');
    await expect(raise('team: diamond\n', folder, 'alpha')).rejects.toMatchObject({
      message: expect.stringContaining('belongs to /not/on/this/machine on beta'),
    });
    await raise('team: diamond\n', folder, 'beta');
  });

  test('that was closed is not reopened', async () => {
    const { ledger, raise } = setStage();
    await raise(DIAMOND);
    await ledger.execute('diamond', { type: 'team.close', by: USER, force: true }, () => undefined);
    await expect(raise(DIAMOND)).rejects.toMatchObject({ code: 'team_closed' });
  });

  test('is made in one step or not at all', async () => {
    const { ledger, raise } = setStage();
    const crowd = Array.from({ length: 3 }, (_, i) => `  - { name: m${i}, agent: claude }`).join('\n');
    await expect(raise(`team: diamond\nlimits: { maxTeammates: 2 }\nmembers:\n${crowd}\n`)).rejects.toMatchObject({
      code: 'limit',
    });
    expect(await ledger.teams()).toEqual([]);
  });
});

test('the hooks of a file are approved for their content', () => {
  const folder = temporaryFolder();
  const file = parseTeamFile(DIAMOND, 'troupe.yaml');
  writeFileSync(join(folder, 'gate.sh'), 'exit 0');
  const [before] = hooksOf(file, folder);
  expect(before).toMatchObject({ command: './gate.sh', timeout: 10_000, onFailure: 'block', cwd: folder });
  writeFileSync(join(folder, 'gate.sh'), 'exit 1');
  expect(hooksOf(file, folder)[0]?.approved).not.toBe(before?.approved);
});

function setStage() {
  const folder = temporaryFolder();
  const ledger = openLedger(memoryJournal());
  const judged: string[][] = [];
  return {
    folder,
    ledger,
    /** The hooks that needed approval, each time. */
    judged,
    raise: async (text: string, from = folder, host?: string) =>
      raiseTeam(ledger, parseTeamFile(text, 'troupe.yaml'), placeOf(from, 'troupe.yaml', host), {
        async judge(hooks) {
          judged.push(hooks.map(({ command }) => command));
        },
      }),
    team: () => ledger.view('diamond', viewTeam),
    tasks: () => ledger.view('diamond', (state) => [...state.tasks.values()].map((task) => viewTask(state, task))),
  };
}

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

test('a member may have the permissions of the lead, but not its mode', () => {
  const rules = '{ allow: [shell(npm test*)], deny: [shell(git push*)] }';
  const member = '{ name: ann, agent: own, permissions: lead }';
  const agents = 'agents: { own: { agent: claude, permissions: { allow: [fetch] } } }';
  const read = (lead: string) =>
    agentsOf(parseTeamFile(`team: x\n${agents}\nlead: ${lead}\nmembers: [${member}]\n`, 't.yaml'), '/').map(
      ({ spec }) => spec,
    );
  const [lead, ann] = read(`{ agent: claude, mode: full, permissions: ${rules} }`);
  expect(lead?.permissions).toEqual({ allow: ['shell(npm test*)'], deny: ['shell(git push*)'] });
  expect(ann?.permissions).toEqual(lead?.permissions);
  expect(ann?.mode).toBeUndefined();
  expect(read('{ agent: claude }')[1]?.permissions).toEqual({});
  expect(() => read('person')).toThrow('t.yaml:4:49: no agent leads this team: list the rules here');
});
