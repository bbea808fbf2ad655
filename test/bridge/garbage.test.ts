import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeJson, encodeJson } from '../../src/bridge/json-text.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import { findReadOnly, listNative, readTeam } from '../../src/bridge/snapshot.ts';
import { createTaskFile, readMark } from '../../src/bridge/task-file.ts';
import { rounds, tell } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { file, NATIVE, read, setStage, TEAM } from './stage.ts';

const CAPTURE = join(import.meta.dirname, '../fixtures/claude-code/2.1.325/02-interactive-inprocess-tasks');

/** Content that is not JSON, or not accepted: the file is kept, copied, and never written. */
const BROKEN: Readonly<Record<string, Buffer>> = {
  binary: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]),
  truncated: Buffer.from('{"id": "1", "subject": "Ta'),
  'after a byte order mark': Buffer.from('\ufeff{"id":"1"}'),
  'UTF-16': Buffer.from('{"id":"1"}', 'utf16le'),
  'half a character': Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
};

/** Content that is JSON, but not what it should be. */
const ODD: Readonly<Record<string, string>> = {
  null: 'null',
  'a number': '12345678901234567890123',
  'of wrong types': '{"id":7,"subject":[],"status":true,"name":{},"members":"none"}',
  'with keys twice': '{"id":"1","id":"2","name":"a","members":[],"members":null}',
};

const KINDS = ['config', 'inbox', 'task', 'mark'] as const;

describe('F21: garbage in a native file', () => {
  test.for([...Object.keys(BROKEN), ...Object.keys(ODD)])(
    'F21: that is %s affects no other files, tasks or teams, and is kept',
    async (name) => {
      const { bridge, mail, tasks, root, paths, settled } = await setStage();
      const other = nativePaths(root, 'other');
      cpSync(join(CAPTURE, 'teams/session-0fc79bc3'), other.team, { recursive: true });
      cpSync(join(CAPTURE, 'tasks/session-0fc79bc3'), other.tasks, { recursive: true });
      const others = bridge.sight().team('other');
      const bytes = BROKEN[name] ?? Buffer.from(ODD[name] ?? '');
      const places = {
        config: join(root, 'teams/broken/config.json'),
        inbox: paths.inbox('alice'),
        task: paths.task('1'),
        mark: paths.highWaterMark,
      };
      mkdirSync(join(root, 'teams/broken'));
      for (const kind of KINDS) {
        writeFileSync(places[kind], bytes);
        utimesSync(places[kind], 1_700_000_000, 1_700_000_000);
      }
      writeFileSync(paths.inbox('codex-1'), JSON.stringify([null, 7, { from: 'alice', text: 'well', timestamp: 'x' }]));
      await mail.send(TEAM, 'codex-1', { toId: 'team-lead', content: 'to the lead' });
      await settled();
      expect(bridge.sight().team('other')).toBe(others);
      expect(
        bridge
          .sight()
          .list()
          .map((team) => team.name),
      ).toContain('broken');
      expect(readFileSync(paths.inbox('team-lead'), 'utf8')).toContain('to the lead');
      // Valid records stay: those in the journal, and those beside invalid ones.
      expect((await mail.getInbox(TEAM, 'codex-1')).map(({ content }) => content)).toEqual(['well']);
      expect((await tasks.listTasks(TEAM)).map(({ id, title }) => `${id} ${title}`)).toEqual(['1 Task 1', '2 Task 2']);
      await tasks.claimTask(TEAM, '2', 'codex-1');
      expect(read(paths.task('2'))).toMatchObject({ owner: 'codex-1' });
      expect(readMark(paths)).toBe(0);
      expect(await createTaskFile(paths, { subject: 'New', status: 'pending' })).toBe('3');
      for (const kind of KINDS) expect(readFileSync(places[kind]).equals(bytes)).toBe(true);
      const copies = join(root, '../trash/unreadable');
      const copied = existsSync(copies) ? readdirSync(copies).map((copy) => readFileSync(join(copies, copy))) : [];
      if (name in BROKEN) expect(copied.filter((copy) => copy.equals(bytes))).toHaveLength(2);
      const problems = bridge.sight().team(NATIVE)?.problems.join('\n');
      for (const what of ['task 1 ', 'inboxes/alice.json ']) expect(problems).toContain(what);
    },
  );

  test('F21: of any kind never throws, is never mistaken for another file, and harms no other team', () => {
    const root = join(temporaryFolder(), 'claude');
    for (const name of ['golden', 'bystander']) {
      cpSync(join(CAPTURE, 'teams/session-0fc79bc3'), join(root, 'teams', name), { recursive: true });
      cpSync(join(CAPTURE, 'tasks/session-0fc79bc3'), join(root, 'tasks', name), { recursive: true });
    }
    const [golden, bystander] = [readTeam(root, 'golden'), readTeam(root, 'bystander')];
    const before = bystander.look();
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('golden') && path.endsWith('.json'))
      .map((path) => ({ path: join(root, path), bytes: readFileSync(join(root, path)) }));
    expect(files.length).toBeGreaterThan(4);
    const place = fc.nat({ max: 2_000 });
    const damage = fc.oneof(
      fc.tuple(fc.constant('cut' as const), place, fc.constant(new Uint8Array())),
      fc.tuple(fc.constant('put' as const), place, fc.uint8Array({ minLength: 1, maxLength: 8 })),
      fc.tuple(fc.constant('over' as const), place, fc.uint8Array({ minLength: 1, maxLength: 8 })),
    );
    fc.assert(
      fc.property(fc.nat(), fc.array(damage, { minLength: 1, maxLength: 4 }), (which, blows) => {
        const { path, bytes } = files[which % files.length] as (typeof files)[number];
        let broken = bytes;
        for (const [how, where, put] of blows) {
          const at = where % (broken.length + 1);
          const rest = how === 'cut' ? broken.length : how === 'over' ? at + put.length : at;
          broken = Buffer.concat([broken.subarray(0, at), put, broken.subarray(rest)]);
        }
        writeFileSync(path, broken);
        const team = golden.look();
        expect(bystander.look()).toBe(before);
        expect(readFileSync(path).equals(broken)).toBe(true);
        for (const [id, task] of team?.tasks ?? []) expect(task.id).toBe(id);
        // What counts as whole can be written, and is then the same.
        const written = [...(team?.tasks.values() ?? [])].map((task) => encodeJson(task));
        expect(written.map((text) => decodeJson(Buffer.from(text)))).toEqual(
          [...(team?.tasks.values() ?? [])].map((value) => ({ value })),
        );
        writeFileSync(path, bytes);
        expect(golden.look()?.problems).toEqual([]);
      }),
      { numRuns: rounds(100, 3_000) },
    );
    tell({ damaged: rounds(100, 3_000) });
  });
});

describe('F22: a malicious native file', () => {
  const harmful: Readonly<Record<string, string>> = {
    'a key __proto__': '{"id":"1","subject":"s","status":"pending","metadata":{"__proto__":{"polluted":true}}}',
    'the same in other letters': '{"id":"1","subject":"s","status":"pending","\\u005f_proto__":{"polluted":true}}',
    'a key constructor': '{"id":"1","subject":"s","status":"pending","constructor":{"prototype":{"polluted":true}}}',
    'a million levels': '['.repeat(1_000_000),
    'a million levels of objects': '{"a":'.repeat(1_000_000),
    'levels that one would still read': `{"id":"1","subject":"s","status":"pending","metadata":${'['.repeat(64)}${']'.repeat(64)}}`,
  };

  test('F22: changes no prototype, needs no deep stack and little memory, and is reported', async () => {
    const { bridge, root, paths, settled } = await setStage();
    Object.keys(harmful).forEach((name, i) => writeFileSync(paths.task(String(10 + i)), harmful[name] ?? ''));
    writeFileSync(paths.task('30'), '[');
    truncateSync(paths.task('30'), 100 * 1024 * 1024);
    writeFileSync(paths.task('31'), JSON.stringify(file('31')));
    await settled();
    const team = bridge.sight().team(NATIVE);
    expect([...(team?.tasks.keys() ?? [])]).toEqual(['1', '2', '31']);
    for (const id of ['10', '11', '12', '13', '14', '15', '30']) {
      expect(team?.problems.join('\n')).toMatch(new RegExp(`task ${id} (has a key|is nested|is larger)`));
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();

    // In a process with little memory in which every attempt to change a prototype fails.
    const script = `
      for (const one of [Object, Array, Function]) Object.freeze(one.prototype);
      const { readTeam } = await import('${join(import.meta.dirname, '../../src/bridge/snapshot.ts')}');
      const team = readTeam(process.argv[1], '${NATIVE}').look();
      console.log([...team.tasks.keys()].join(), Math.round(process.memoryUsage().rss / 1024 / 1024));`;
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script, root], { encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    const [ids, megabytes] = ran.stdout.trim().split(' ');
    expect(ids).toBe('1,2,31');
    expect(Number(megabytes)).toBeLessThan(250);
  });
});

test('a root full of garbage is reported only as teams that cannot be written', () => {
  const root = temporaryFolder();
  for (const name of ['a', 'b']) {
    mkdirSync(join(root, 'teams', name), { recursive: true });
    writeFileSync(join(root, 'teams', name, 'config.json'), name === 'a' ? 'nothing' : '{"crew":[]}');
  }
  expect(listNative(root)).toEqual(['a', 'b']);
  expect(findReadOnly(root).map(({ why }) => why)).toEqual([
    'its config.json cannot be read',
    'its config.json has an unknown form',
  ]);
});
