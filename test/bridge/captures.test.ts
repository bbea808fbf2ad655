import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configOf } from '../../src/bridge/config-file.ts';
import { eraOf, nameOf } from '../../src/bridge/format.ts';
import { inboxOf } from '../../src/bridge/inbox-file.ts';
import { readNow, replaceFile } from '../../src/bridge/json-file.ts';
import { taskOf } from '../../src/bridge/task-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { proves } from './requirements.ts';

const CAPTURES = join(import.meta.dirname, '../fixtures/claude-code');

const captured = readdirSync(CAPTURES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
  .map((entry) => relative(CAPTURES, join(entry.parentPath, entry.name)))
  .filter((path) => /\/(teams|tasks)\//.test(path))
  .sort();

const kindOf = (path: string): 'config' | 'inbox' | 'task' =>
  path.endsWith('config.json') ? 'config' : path.includes('/inboxes/') ? 'inbox' : 'task';

describe('what the three versions wrote to disk', () => {
  test('has every kind of file', () => {
    expect(captured.length).toBeGreaterThan(150);
    expect(new Set(captured.map((path) => `${path.split('/')[0]} ${kindOf(path)}`)).size).toBe(9);
  });

  test.for(captured)('F27: is understood: %s', (path) => {
    const reading = readNow(join(CAPTURES, path));
    const kind = kindOf(path);
    if (kind === 'config') expect(configOf(reading)).toMatchObject({ kind: 'read' });
    if (kind === 'inbox') expect(inboxOf(reading)).toMatchObject({ kind: 'read' });
    if (kind === 'task') expect(taskOf(reading, /(\d+)\.json$/.exec(path)?.[1] ?? '')).toMatchObject({ kind: 'read' });
  });

  proves(['json-form', 'config-full', 'task-form', 'inbox-form'], 'is written back byte for byte', () => {
    const folder = temporaryFolder();
    cpSync(CAPTURES, folder, { recursive: true });
    const differing = captured.filter((path) => {
      const copy = join(folder, path);
      const reading = readNow(copy);
      if (reading.kind !== 'read') throw new Error(`${path} cannot be read`);
      replaceFile(copy, reading.value, reading.mode);
      return readFileSync(copy, 'utf8') !== readFileSync(join(CAPTURES, path), 'utf8');
    });
    // Written by hand on one line, and not touched by the program.
    expect(differing).toEqual(['2.1.325/08-minimal-configs/teams/mini/config.json']);
  });

  proves(['config-lead-process', 'inbox-ids', 'inbox-marks-read', 'inbox-removes-read'], 'F27: shows its era', () => {
    const eras = new Map<string, Set<string>>();
    for (const path of captured.filter((one) => kindOf(one) === 'config')) {
      const folder = join(CAPTURES, path, '..');
      const config = configOf(readNow(join(CAPTURES, path)));
      const inboxes = captured.filter((one) => one.startsWith(`${relative(CAPTURES, folder)}/inboxes/`));
      const entries = inboxes.flatMap((one) => {
        const inbox = inboxOf(readNow(join(CAPTURES, one)));
        return inbox.kind === 'read' ? inbox.entries : [];
      });
      // Made by hand, or from a session without a team: these say nothing about the program.
      if (config.kind !== 'read' || config.config.leadSessionId === undefined || entries.length === 0) continue;
      const version = path.split('/')[0] ?? '';
      eras.set(version, (eras.get(version) ?? new Set()).add(eraOf(config.config, entries)));
    }
    expect(eras.get('2.1.37')).toEqual(new Set(['marks-read']));
    expect(eras.get('2.1.325')).toEqual(new Set(['removes-read']));
  });

  proves(
    ['config-simple', 'config-needs-lead-id'],
    'has a simplified form, which we can read and distinguish from the full one',
    async () => {
      const { isWhole } = await import('../../src/bridge/config-file.ts');
      const mini = configOf(readNow(join(CAPTURES, '2.1.37/08-minimal-configs/teams/mini/config.json')));
      const mid = configOf(readNow(join(CAPTURES, '2.1.37/08-minimal-configs/teams/mid/config.json')));
      if (mini.kind !== 'read' || mid.kind !== 'read') throw new Error('not read');
      expect([nameOf(mini.config), isWhole(mini.config), isWhole(mid.config)]).toEqual(['mini', false, true]);
    },
  );
});
