import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/memory.ts';
import { writeInPlace } from './foreign.ts';
import { NATIVE, read, readTeam, setStage, TEAM } from './stage.ts';
import type { Json } from './stage.ts';

const signatureIn = (path: string): Json => (read(path)['metadata'] as Json)['troupe'] as Json;

describe('of two daemons on one native team', () => {
  test('the one that returns later waits, says so, and takes over when the other has left', async () => {
    const { bridge, paths, open, journal } = await setStage();
    await bridge.close();
    // As after kill -9: the signature names a process that is gone.
    const config = read(paths.config);
    const dead = { ...signatureIn(paths.config), pid: 999_999, startTime: '1' };
    writeFileSync(paths.config, JSON.stringify({ ...config, metadata: { troupe: dead } }, undefined, 2));
    const rival = open('/home/of/another', memoryJournal());
    await rival.bridge.join(NATIVE);
    const theirs = signatureIn(paths.config);
    expect(theirs).toMatchObject({ path: '/home/of/another' });
    const later = open('home', journal);
    await later.bridge.start();
    await expect(later.tasks.claimTask(TEAM, '1', 'codex-1')).rejects.toThrow('TROUPE_HOME=/home/of/another');
    await later.bridge.settled(TEAM);
    await rival.bridge.settled(TEAM);
    expect(signatureIn(paths.config)).toEqual(theirs);
    expect(later.bridge.joined()[0]?.notices.join()).toContain('/home/of/another): leave it there first');
    expect(await later.tasks.getTask(TEAM, '1')).toMatchObject({ status: 'pending' });
    await expect(later.bridge.join(NATIVE)).rejects.toMatchObject({ code: 'conflict' });
    await rival.bridge.leave(TEAM);
    later.bridge.sight().list();
    await later.bridge.settled(TEAM);
    await later.bridge.settled(TEAM);
    expect(signatureIn(paths.config)).toMatchObject({ path: 'home' });
    await later.tasks.claimTask(TEAM, '1', 'codex-1');
    expect(read(paths.task('1'))).toMatchObject({ owner: 'codex-1' });
  });

  test('one succeeds if both join at once', async () => {
    const { bridge, open, paths } = await setStage();
    await bridge.leave(TEAM);
    const sides = ['/home/a', '/home/b'].map((home) => open(home, memoryJournal()));
    const joined = await Promise.allSettled(sides.map((side) => side.bridge.join(NATIVE)));
    expect(joined.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = joined.findIndex(({ status }) => status === 'fulfilled');
    expect(signatureIn(paths.config)).toMatchObject({ path: ['/home/a', '/home/b'][winner] });
    expect(sides[1 - winner]?.bridge.joined()).toEqual([]);
  });

  test('the one that leaves removes only its own members', async () => {
    const { bridge, paths } = await setStage();
    const config = readTeam(paths.config);
    const other = { ...config.members[1], name: 'theirs', metadata: { troupe: { home: 'of somebody else' } } };
    const left = bridge.leave(TEAM);
    writeInPlace(paths.config, { ...config, members: [...config.members, other] });
    await left;
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'alice', 'theirs']);
  });
});
