import { beforeAll, describe, expect, test } from 'vitest';
import { sharedTroupe } from './troupe.ts';

describe('troupe notes', () => {
  const troupe = sharedTroupe();

  beforeAll(async () => {
    await troupe.ask('team create demo');
    await troupe.ask('member add ann --team demo');
    await troupe.ask('task add "Find the leak" --team demo');
  });

  test('reads and adds notes, with tags', async () => {
    expect(await troupe.ask('notes --team demo')).toMatchObject({
      status: 0,
      stdout: 'There are no notes yet: troupe notes add "..." --team demo\n',
    });
    expect(await troupe.ask('notes add "The API wants UTC" --team demo --tag api --as ann')).toEqual({
      status: 0,
      stdout: 'Note 1 added.\n',
      stderr: '',
    });
    expect(await troupe.askJson('notes add "Ports are random" --team demo')).toMatchObject({ id: '2', tags: [] });
    expect((await troupe.ask('notes --team demo')).stdout).toMatch(
      /^#  BY +CHANGED +TAGS +TEXT\n1  ann .* api +The API wants UTC\n2  @user .* Ports are random\n$/,
    );
    expect(await troupe.askJson('notes list --team demo --tag api')).toMatchObject([{ id: '1', authorId: 'ann' }]);
    expect(await troupe.askJson('notes --team demo -n 1')).toMatchObject([{ id: '2' }]);
  });

  test('finds notes and results of tasks', async () => {
    await troupe.ask('task claim 1 --team demo --as ann');
    await troupe.ask('task complete 1 --team demo --as ann --result "The leak is in the socket pool"');
    expect((await troupe.ask('notes search socket --team demo')).stdout).toMatch(
      /^FOUND IN +BY +TEXT\ntask #1 +ann +Find the leak: The leak is in the socket pool\n$/,
    );
    expect(await troupe.askJson('notes search utc --team demo')).toMatchObject([{ kind: 'note', id: '1' }]);
    expect((await troupe.ask('notes search zebra --team demo')).stdout).toBe('Nothing was found.\n');
  });

  test('shows the history of the team, and of no other', async () => {
    await troupe.ask('team create other');
    const { stdout } = await troupe.ask('notes log --team demo');
    expect(stdout).toMatch(/created the team demo, led by lead\n/);
    expect(stdout).toMatch(/ann {2}noted: The API wants UTC\n/);
    expect(stdout).not.toContain('other');
    const lines = stdout.trimEnd().split('\n');
    for (const most of [1, 2, 3]) {
      const last = await troupe.ask(`notes log --team demo -n ${most}`);
      expect(last.stdout.trimEnd().split('\n')).toEqual(lines.slice(-most));
    }
  });

  test('says what is missing', async () => {
    expect((await troupe.ask('notes search --team demo')).stderr).toContain('The text is missing');
    expect((await troupe.ask('notes log words --team demo')).stderr).toContain('takes no text');
    expect(await troupe.ask('notes frob --team demo')).toMatchObject({ status: 2 });
    expect(await troupe.ask('notes --team gone')).toMatchObject({ status: 3 });
  });

  test('loses no line when many processes write at once', async () => {
    await troupe.ask('team create busy');
    const names = Array.from({ length: 8 }, (_, i) => `line-${i}`);
    await Promise.all(names.map((name) => troupe.run(`notes add ${name} --team busy`)));
    const notes = await troupe.askJson<{ id: string; text: string }[]>('notes --team busy');
    expect(notes.map(({ text }) => text).sort()).toEqual(names);
    expect(notes.map(({ id }) => id)).toEqual(names.map((_, i) => String(i + 1)));
  });
});
