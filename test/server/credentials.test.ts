import { createHmac } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { parse } from '../../src/core/parse.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openCredentials } from '../../src/server/auth.ts';
import { openLogins } from '../../src/server/logins.ts';
import { rateLimit } from '../../src/server/rate.ts';
import { markOf, newSecret, readSecret, writeSecret } from '../../src/server/secret-file.ts';
import { needOpenFiles, openFilesIn } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needs } from '../tools.ts';

let home: Home;
let ledger: Ledger;
beforeEach(async () => {
  home = homeAt(join(temporaryFolder(), 'home'));
  mkdirSync(home.directory, { mode: 0o700 });
  ledger = new Ledger(memoryJournal(), { exclusive: true });
  await create();
});

const create = (at = 1_000) =>
  ledger.execute(
    'demo',
    [
      {
        type: 'team.create',
        at,
        by: '@user',
        name: 'demo',
        description: '',
        leadName: 'lead',
        leadSessionId: 'none',
        leadAgentType: 'person',
        teammateMode: 'auto',
        resolvedBackend: 'in-process',
        maxTeammates: 8,
        delegateMode: false,
      },
    ],
    () => undefined,
  );
const open = () => openCredentials({ ...home, ledger });
const readToken = () => readFileSync(home.tokenFile, 'utf8').trim();

describe('the admin token', () => {
  test('is new at every start, long, and readable only by its owner', async () => {
    const first = await open();
    const token = readToken();
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
    expect(statSync(home.secretFile).mode & 0o777).toBe(0o600);
    expect(await first.verify(token)).toEqual({ scope: 'admin' });
    const second = await open();
    expect(readToken()).not.toBe(token);
    expect(await second.verify(token)).toBeUndefined();
    expect(readdirSync(home.directory).sort()).toEqual(['secret', 'token']);
  });

  test('is read again when its file changes', async () => {
    const credentials = await open();
    const old = readToken();
    const other = Buffer.alloc(32, 7).toString('base64url');
    const session = credentials.logins.login(credentials.logins.code()) as string;
    let voided = 0;
    const stop = credentials.onVoid(() => voided++);
    expect(await credentials.verify(old)).toEqual({ scope: 'admin' });
    expect(voided).toBe(0);
    writeFileSync(home.tokenFile, other);
    expect(await credentials.verify(other)).toEqual({ scope: 'admin' });
    expect(await credentials.verify(old)).toBeUndefined();
    // What was opened with the old one has ended, once.
    expect([voided, credentials.logins.callerOf(session)]).toEqual([1, undefined]);
    stop();
    writeFileSync(home.tokenFile, old);
    expect(await credentials.verify(old)).toEqual({ scope: 'admin' });
    expect(voided).toBe(1);
  });

  test.each([
    ['is gone', () => rmSync(home.tokenFile)],
    ['is empty', () => writeFileSync(home.tokenFile, '')],
    ['is short', () => writeFileSync(home.tokenFile, 'short')],
    [
      'is a folder',
      () => {
        rmSync(home.tokenFile);
        mkdirSync(home.tokenFile, { mode: 0o700 });
      },
    ],
    ['can be read by others', () => chmodSync(home.tokenFile, 0o644)],
    [
      'is a link',
      () => {
        const elsewhere = join(home.directory, 'elsewhere');
        writeFileSync(elsewhere, readToken(), { mode: 0o600 });
        rmSync(home.tokenFile);
        symlinkSync(elsewhere, home.tokenFile);
      },
    ],
  ])('is invalid if its file %s', async (_, change) => {
    const credentials = await open();
    const token = readToken();
    change();
    for (const shown of [token, '', 'short']) expect(await credentials.verify(shown)).toBeUndefined();
  });

  test('replaces a planted link, and not the target of the link', async () => {
    const bait = join(home.directory, 'bait');
    writeFileSync(bait, 'bait');
    symlinkSync(bait, home.tokenFile);
    await open();
    expect(readFileSync(bait, 'utf8')).toBe('bait');
    expect(statSync(home.tokenFile).mode & 0o777).toBe(0o600);
  });
});

describe('a member token', () => {
  test('survives restarts', async () => {
    const token = await (await open()).memberToken('demo', 'lead', 'lead');
    expect(await (await open()).verify(token)).toEqual({
      scope: 'lead',
      teamId: 'demo',
      memberId: 'lead',
      since: 1_000,
    });
  });

  test('ends with its member, also if another one takes the name, but not with a crash and a restart', async () => {
    const credentials = await open();
    const join = async (at: number): Promise<string> => {
      const input = parse(JoinInput, { name: 'ann' });
      await ledger.execute('demo', { type: 'member.join', at, by: '@user', ...input }, () => undefined);
      return credentials.memberToken('demo', 'ann', 'member');
    };
    const leave = (returning: boolean, at: number) =>
      ledger.execute('demo', { type: 'member.leave', at, by: '@user', memberId: 'ann', returning }, () => undefined);
    const first = await join(2_000);
    const ann = { scope: 'member', teamId: 'demo', memberId: 'ann', since: 2_000 };
    for (const at of [3_000, 4_000]) {
      await leave(true, at);
      expect(await credentials.verify(first)).toEqual(ann);
      expect(await join(at + 500)).toBe(first);
    }
    expect(await (await open()).verify(first)).toEqual(ann);
    await leave(false, 5_000);
    expect(await credentials.verify(first)).toBeUndefined();
    await expect(credentials.memberToken('demo', 'ann', 'member')).rejects.toMatchObject({ code: 'member_stopped' });
    const second = await join(6_000);
    expect(await credentials.verify(first)).toBeUndefined();
    expect(await credentials.verify(second)).toEqual({ ...ann, since: 6_000 });
  });

  test('still reads a team that was closed while its member was in it', async () => {
    const credentials = await open();
    const token = await credentials.memberToken('demo', 'lead', 'lead');
    await ledger.execute('demo', { type: 'team.close', at: 2_000, by: '@user', force: true }, () => undefined);
    expect(await credentials.verify(token)).toMatchObject({ memberId: 'lead' });
  });

  test('ends with its team, also if another one takes the name', async () => {
    const credentials = await open();
    const join = (name: string) => {
      const input = parse(JoinInput, { name });
      return ledger.execute('demo', { type: 'member.join', at: 3_000, by: '@user', ...input }, () => undefined);
    };
    await join('ann');
    const tokens = [
      await credentials.memberToken('demo', 'lead', 'lead'),
      await credentials.memberToken('demo', 'ann', 'member'),
    ];
    await ledger.drop('demo');
    for (const token of tokens) expect(await credentials.verify(token)).toBeUndefined();
    await create(2_000);
    // The clock was set back: she joins both teams at the same time.
    await join('ann');
    for (const token of tokens) expect(await credentials.verify(token)).toBeUndefined();
  });

  test('is invalid if any letter of it is changed', async () => {
    const credentials = await open();
    const token = await credentials.memberToken('demo', 'lead', 'reader');
    for (let at = 0; at < token.length; at++) {
      for (const letter of ['A', 'z', '_', '.', ' ']) {
        const forged = token.slice(0, at) + letter + token.slice(at + 1);
        if (forged !== token) expect(await credentials.verify(forged)).toBeUndefined();
      }
    }
    const [prefix, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify(['demo', 'lead', 'lead', 1_000, 1_000])).toString('base64url');
    for (const forged of [
      `${prefix}.${claims}.${signature}`,
      `${prefix}.${claims}.`,
      `${prefix}.${claims}`,
      `${token}.x`,
    ]) {
      expect(await credentials.verify(forged)).toBeUndefined();
    }
  });

  test('is invalid if it was signed by a version that named fewer claims, or more', async () => {
    const credentials = await open();
    const sign = (claims: unknown[], prefix: string): string => {
      const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
      const secret = readFileSync(home.secretFile, 'utf8').trim();
      return `${body}.${createHmac('sha256', secret).update(`${prefix}.${body}`).digest('base64url')}`;
    };
    const claims = ['demo', 'lead', 'lead', 1_000, 1_000];
    expect(await credentials.verify(`tm1.${sign(claims, 'tm1')}`)).toMatchObject({ memberId: 'lead' });
    expect(await credentials.verify(`tm1.${sign(claims.slice(0, 4), 'tm1')}`)).toBeUndefined();
    expect(await credentials.verify(`tm1.${sign([...claims, 'more'], 'tm1')}`)).toBeUndefined();
  });

  test('is not given for an unknown member', async () => {
    const credentials = await open();
    await expect(credentials.memberToken('demo', 'nobody', 'member')).rejects.toMatchObject({ code: 'not_found' });
    await expect(credentials.memberToken('absent', 'lead', 'member')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is not signed with a secret that others could have read', async () => {
    await open();
    chmodSync(home.secretFile, 0o640);
    const reasons: string[] = [];
    const onNewSecret = ({ code }: { code: string }): void => void reasons.push(code);
    const read = readFileSync(home.secretFile, 'utf8');
    await openCredentials({ ...home, ledger, onNewSecret });
    expect(readFileSync(home.secretFile, 'utf8')).not.toBe(read);
    writeFileSync(home.secretFile, 'short');
    await openCredentials({ ...home, ledger, onNewSecret });
    expect(readFileSync(home.secretFile, 'utf8')).toMatch(/^[\w-]{43}\n$/);
    expect(statSync(home.secretFile).mode & 0o777).toBe(0o600);
    expect(reasons).toEqual(['not_allowed', 'corrupt']);
  });
});

test('opening fails if the token cannot be written', async () => {
  rmSync(home.directory, { recursive: true });
  await expect(open()).rejects.toMatchObject({ code: 'storage' });
});

test('rotating revokes everything at once', async () => {
  const credentials = await open();
  const admin = readToken();
  const member = await credentials.memberToken('demo', 'lead', 'lead');
  const session = credentials.logins.login(credentials.logins.code()) as string;
  const code = credentials.logins.code();
  let told = 0;
  credentials.onVoid(() => told++);
  await credentials.rotate();
  expect(told).toBe(1);
  expect(await credentials.verify(admin)).toBeUndefined();
  expect(await credentials.verify(member)).toBeUndefined();
  expect(credentials.logins.callerOf(session)).toBeUndefined();
  expect(credentials.logins.login(code)).toBeUndefined();
  const next = credentials.logins.login(credentials.logins.code()) as string;
  expect(await credentials.verify(readToken())).toEqual({ scope: 'admin' });
  // It is revoked once: what was opened since stays open.
  expect([told, credentials.logins.callerOf(next)]).toEqual([1, { scope: 'admin' }]);
});

test('while credentials are rotated, members get new tokens, and the old ones work until then', async () => {
  const credentials = await open();
  const old = await credentials.memberToken('demo', 'lead', 'lead');
  const { promise: go, resolve } = Promise.withResolvers<void>();
  const given = Promise.withResolvers<string>();
  let isVoid = false;
  credentials.onVoid(() => (isVoid = true));
  credentials.onRotate(async () => {
    given.resolve(await credentials.memberToken('demo', 'lead', 'lead'));
    await go;
  });
  const rotated = credentials.rotate();
  const renewed = await given.promise;
  for (const token of [old, renewed]) expect(await credentials.verify(token)).toMatchObject({ memberId: 'lead' });
  expect(isVoid).toBe(false);
  resolve();
  await rotated;
  expect(isVoid).toBe(true);
  expect(await credentials.verify(old)).toBeUndefined();
  expect(await credentials.verify(renewed)).toMatchObject({ memberId: 'lead' });
});

describe('a login', () => {
  test('code works once and for a minute; a session for 8 hours', () => {
    let now = 0;
    const logins = openLogins({ now: () => now, steady: () => now });
    const code = logins.code();
    const session = logins.login(code) as string;
    expect(logins.login(code)).toBeUndefined();
    expect(logins.login('made up')).toBeUndefined();
    const late = logins.code();
    now = 60_000;
    expect(logins.login(late)).toBeUndefined();
    now = 8 * 3_600_000 - 1;
    expect(logins.callerOf(session)).toEqual({ scope: 'admin' });
    now++;
    expect(logins.callerOf(session)).toBeUndefined();
  });

  test('ends in time even if the clock is set back or the machine sleeps', () => {
    let [now, steady] = [1e12, 0];
    const file = join(temporaryFolder(), 'logins.json');
    const clocks = { now: () => now, steady: () => steady };
    const logins = openLogins({ ...clocks, file });
    const session = logins.login(logins.code()) as string;
    const [late, slept] = [logins.code(), logins.code()];
    steady += 65_000;
    now -= 600_000;
    expect(logins.login(late)).toBeUndefined();
    steady -= 65_000;
    now += 600_000 + 65_000;
    expect(logins.login(slept)).toBeUndefined();
    expect(logins.callerOf(session)).toEqual({ scope: 'admin' });
    now = 0;
    // The next daemon has only the time of day to go by. It gives at most a whole session.
    const later = openLogins({ ...clocks, file });
    steady += 8 * 3_600_000;
    expect(logins.callerOf(session)).toBeUndefined();
    expect(later.callerOf(session)).toBeUndefined();
    // Each clock alone ends it to the millisecond.
    for (const [time, ticks] of [
      [8 * 3_600_000, 0],
      [0, 8 * 3_600_000],
    ] as const) {
      const [from, began] = [now, steady];
      const last = logins.login(logins.code()) as string;
      [now, steady] = [from + Math.max(0, time - 1), began + Math.max(0, ticks - 1)];
      expect(logins.callerOf(last)).toEqual({ scope: 'admin' });
      [now, steady] = [from + time, began + ticks];
      expect(logins.callerOf(last)).toBeUndefined();
    }
  });

  test('session survives a restart of the daemon, but a code and a session that was logged out do not', () => {
    const file = join(temporaryFolder(), 'logins.json');
    const logins = openLogins({ file });
    const [kept, left] = [1, 2].map(() => logins.login(logins.code()) as string) as [string, string];
    const code = logins.code();
    logins.logout(left);
    expect(readFileSync(file, 'utf8')).not.toContain(kept);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const later = openLogins({ file });
    expect(later.callerOf(kept)).toEqual({ scope: 'admin' });
    expect(later.callerOf(left)).toBeUndefined();
    expect(later.login(code)).toBeUndefined();
    later.clear();
    expect(openLogins({ file }).callerOf(kept)).toBeUndefined();
    writeFileSync(file, 'not ours');
    expect(openLogins({ file }).callerOf(kept)).toBeUndefined();
  });

  test('that the next daemon finds does not last longer because the clock was set back meanwhile', () => {
    const [hour, file] = [3_600_000, join(temporaryFolder(), 'logins.json')];
    let [now, steady] = [1e12, 0];
    const clocks = { now: () => now, steady: () => steady };
    const logins = openLogins({ ...clocks, file });
    const session = logins.login(logins.code()) as string;
    [now, steady] = [now + 3 * hour, 4 * hour];
    logins.login(logins.code());
    const later = openLogins({ ...clocks, file });
    [now, steady] = [now + 4 * hour - 1, 8 * hour - 1];
    expect(later.callerOf(session)).toEqual({ scope: 'admin' });
    [now, steady] = [now + 1, 8 * hour];
    expect(later.callerOf(session)).toBeUndefined();
  });

  test('that has ended is not kept', () => {
    let now = 0;
    const file = join(temporaryFolder(), 'logins.json');
    const logins = openLogins({ now: () => now, steady: () => now, file });
    logins.login(logins.code());
    now = 8 * 3_600_000;
    logins.login(logins.code());
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(1);
  });

  test('that exceeds the limit ends the oldest', () => {
    const logins = openLogins();
    const sessions = Array.from({ length: 40 }, () => logins.login(logins.code()) as string);
    const open = sessions.map((session) => logins.callerOf(session) !== undefined);
    expect(open.filter(Boolean)).toHaveLength(32);
    expect(open.at(-1)).toBe(true);
    expect(open[0]).toBe(false);
  });
});

test('a rate limit allows a burst, then a fixed rate, for each key', () => {
  let now = 0;
  const rate = rateLimit(50, 200, () => now);
  const takeAll = (key: string): number => {
    let taken = 0;
    while (rate.take(key)) taken++;
    return taken;
  };
  expect(takeAll('a')).toBe(200);
  now += 1_000;
  expect(takeAll('a')).toBe(50);
  expect(takeAll('b')).toBe(200);
  now += 60_000;
  expect(takeAll('a')).toBe(200);
});

test('a rate limit remembers only the latest keys', () => {
  const rate = rateLimit(0, 1);
  for (let i = 0; i < 2_000; i++) rate.take(`key ${i}`);
  expect(rate.take('key 1999')).toBe(false);
  expect(rate.take('key 0')).toBe(true);
});

test('a rate limit forgets the key that was quiet longest', () => {
  const rate = rateLimit(0, 1);
  for (let i = 0; i < 1_024; i++) rate.take(`key ${i}`);
  expect(rate.take('key 0')).toBe(false);
  rate.take('one more');
  expect(rate.take('key 0')).toBe(false);
  expect(rate.take('key 1')).toBe(true);
});

test('a text that was signed here is known again, and nothing else is; an unusable key is replaced', async () => {
  writeFileSync(home.secretFile, 'no key', { mode: 0o600 });
  const credentials = await openCredentials({ ...home, ledger });
  const sealed = credentials.seal('text');
  expect(credentials.unseal(sealed)).toBe('text');
  for (const other of [`${sealed}.x`, `${sealed}x`, `x${sealed}`, sealed.slice(0, -2), '', 'text']) {
    expect(credentials.unseal(other)).toBeUndefined();
  }
});

test('a secret is read from a file that only we can read; no file is none, any other is refused', async (context) => {
  needOpenFiles(context);
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder, name);
  const secret = newSecret();
  await writeSecret(path('secret'), secret);
  expect(await readSecret(path('secret'))).toBe(secret);
  expect(await readSecret(path('none'))).toBeUndefined();
  expect(await markOf(path('none'))).toBeUndefined();
  symlinkSync(path('secret'), path('link'));
  await expect(readSecret(path('link'))).rejects.toMatchObject({ code: 'not_allowed' });
  writeFileSync(path('open'), `${secret}\n`, { mode: 0o644 });
  await expect(readSecret(path('open'))).rejects.toMatchObject({ code: 'not_allowed' });
  writeFileSync(path('short'), 'x', { mode: 0o600 });
  await expect(readSecret(path('short'))).rejects.toMatchObject({ code: 'corrupt' });
  await expect(writeSecret(join(folder, 'none', 'secret'), secret)).rejects.toMatchObject({ code: 'storage' });
  expect(openFilesIn(dirname(folder)).filter((path) => path.startsWith(folder))).toEqual([]);
});

test(
  'a secret in the file of another user is refused',
  needs(process.getuid?.() === 0, 'only root can give a file away'),
  async () => {
    const path = join(temporaryFolder(), 'secret');
    await writeSecret(path, newSecret());
    chownSync(path, 65_534, 65_534);
    await expect(readSecret(path)).rejects.toMatchObject({ code: 'not_allowed' });
  },
);
