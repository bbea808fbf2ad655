import { expect, onTestFinished, test } from 'vitest';
import { USER } from '../../src/core/actor.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { TeamMemory } from '../../src/runtime/team-memory.ts';
import { claim, complete, createTask, createTeam, run, TEAM } from '../ledger/commands.ts';
import { openLedger } from '../ledger/places.ts';

test('finds text from before and after the first search, by incomplete or slightly wrong words', async () => {
  const { ledger, memory, ids } = await setStage();
  await note(ledger, 'The parser drops comments', ['parser']);
  expect(await ids('comments')).toEqual(['note 1']);
  await note(ledger, 'Sockets leak when a client vanishes', ['net']);
  expect(await ids('sock')).toEqual(['note 2']);
  expect(await ids('sokets')).toEqual(['note 2']);
  expect(await ids('net')).toEqual(['note 2']);
  const [hit] = await memory.search(TEAM, 'parser', 1);
  expect(hit).toMatchObject({ kind: 'note', id: '1', title: 'The parser drops comments', authorId: 'ann' });
});

test('has the result of a task from its completion until it is reopened or deleted', async () => {
  const { ledger, ids } = await setStage();
  const taskId = await createTask(ledger, 'Find the leak');
  expect(await ids('leak')).toEqual([]);
  await run(ledger, claim('ann', taskId));
  expect(await ids('pool')).toEqual([]);
  await run(ledger, complete('ann', taskId, { result: 'It is in the socket pool' }));
  expect(await ids('pool')).toEqual([`result ${taskId}`]);
  await run(ledger, { type: 'task.reopen', by: USER, taskId });
  expect(await ids('pool')).toEqual([]);
  await run(ledger, claim('ann', taskId), complete('ann', taskId, { result: 'It is in the timer wheel' }));
  expect(await ids('wheel')).toEqual([`result ${taskId}`]);
  await run(ledger, { type: 'task.delete', by: USER, taskId });
  expect(await ids('wheel')).toEqual([]);
});

test('follows changes and removals of notes', async () => {
  const { ledger, ids } = await setStage();
  await note(ledger, 'alpha');
  expect(await ids('alpha')).toEqual(['note 1']);
  await run(ledger, { type: 'note.update', by: 'ann', noteId: '1', text: 'omega' });
  expect([await ids('alpha'), await ids('omega')]).toEqual([[], ['note 1']]);
  await run(ledger, { type: 'note.remove', by: 'ann', noteId: '1' });
  expect(await ids('omega')).toEqual([]);
});

test('keeps teams apart, and is the same after a rebuild', async () => {
  const { ledger, ids } = await setStage();
  await createTeam(ledger, { name: 'other' });
  await note(ledger, 'shared word', []);
  await ledger.execute('other', { type: 'note.add', by: 'ann', text: 'shared word', tags: [] }, () => undefined);
  expect(await ids('shared')).toEqual(['note 1']);
  const again = new TeamMemory(ledger);
  onTestFinished(() => again.close());
  expect((await again.search(TEAM, 'shared', 10)).map(({ kind, id }) => `${kind} ${id}`)).toEqual(['note 1']);
  await expect(again.search('gone', 'x', 1)).rejects.toMatchObject({ code: 'not_found' });
});

test('two ledgers that write notes to one journal at once lose none', async () => {
  const journal = memoryJournal();
  const [one, two] = [openLedger(journal), openLedger(journal)];
  await createTeam(one);
  await Promise.all(Array.from({ length: 40 }, (_, i) => note(i % 2 ? one : two, `line ${i}`)));
  const texts = await one.view(TEAM, ({ notes }) => [...notes.values()].map(({ text }) => text));
  expect(new Set(texts).size).toBe(40);
});

async function setStage() {
  const ledger = openLedger(memoryJournal());
  const memory = new TeamMemory(ledger);
  onTestFinished(() => memory.close());
  await createTeam(ledger);
  const ids = async (query: string): Promise<string[]> =>
    (await memory.search(TEAM, query, 10)).map(({ kind, id }) => `${kind} ${id}`);
  return { ledger, memory, ids };
}

function note(ledger: Ledger, text: string, tags: string[] = []): Promise<void> {
  return run(ledger, { type: 'note.add', by: 'ann', text, tags });
}
