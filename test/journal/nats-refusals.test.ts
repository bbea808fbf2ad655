import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { connect, nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import type { NatsJournal } from '../../src/journal/nats.ts';
import { watchReach } from '../../src/journal/nats/reach.ts';
import { writeServerConfigs } from '../../src/journal/nats/server-config.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { collect, fill, note, texts } from '../contracts/journal/notes.ts';
import { pauseProcess } from '../daemon/processes.ts';
import { makeCertificate } from '../nats/certificates.ts';
import { startProxy } from '../nats/proxy.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import type { NatsOptions, NatsServers } from '../nats/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { HANG_MS, until } from '../until.ts';

async function start(options: NatsOptions): Promise<NatsServers> {
  const servers = await startNats(options);
  onTestFinished(() => servers.stop());
  return servers;
}

async function open(url: string, options: object = PATIENT): Promise<NatsJournal> {
  const journal = await natsJournal(url, options);
  onTestFinished(() => journal.close());
  return journal;
}

/** Whether a socket has unread data from a server on loopback. */
function hasUnread(port: number): boolean {
  const from = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return lines.some(([, , remote, , queues]) => remote === from && !queues!.endsWith(':00000000'));
}

describe('opening a journal on NATS says what to do when', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test.each([
    ['nats://', /not the address of a journal/],
    ['nats://127.0.0.1:4222?crds=/x', /no option "crds"; the options are creds, nkey/],
    ['nats://bob:hunter2@127.0.0.1:4222', /put the credential in a file/],
    ['nats://127.0.0.1:4222?creds=/not/there', /credentials file cannot be read/],
    ['nats://127.0.0.1:4222?prefix=A_B', /a prefix is/],
  ])('the address is wrong: %s', async (url, message) => {
    const failure = await natsJournal(url).catch((reason: unknown) => reason as Error);
    expect(failure).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) as string });
    expect((failure as Error).message).not.toContain('hunter2');
  });

  test('nobody listens', async () => {
    const message = expect.stringMatching(/no server listens there. Start nats-server/) as string;
    await expect(natsJournal('nats://127.0.0.1:1')).rejects.toMatchObject({ code: 'storage', message });
  });

  test('the server has no JetStream', async () => {
    const { url } = await start({ jetstream: false });
    const message = expect.stringMatching(/without JetStream.*Give its configuration a jetstream block/) as string;
    await expect(natsJournal(url, { jetstreamMs: 0 })).rejects.toMatchObject({ code: 'storage', message });
  });

  test('the server is too old', async () => {
    const { port } = await startProxy(servers.nodes[0]!.port, (text) =>
      text.replace(/"version":"[\d.]+"/, '"version":"2.8.4"'),
    );
    const message = expect.stringMatching(/runs nats-server 2\.8\.4; a journal needs 2\.9 or newer/) as string;
    await expect(natsJournal(`nats://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'unsupported', message });
  });

  test('the credential is wrong', async () => {
    const folder = temporaryFolder();
    const [known] = ['known', 'stranger'].map((name) => {
      const user = nkeys.createUser();
      writeFileSync(join(folder, name), user.getSeed());
      return user.getPublicKey();
    });
    const { url } = await start({ config: `authorization { users: [{ nkey: ${known} }] }` });
    const message = expect.stringMatching(/does not accept the credential/) as string;
    await expect(natsJournal(url)).rejects.toMatchObject({ code: 'storage', message });
    await expect(natsJournal(`${url}?nkey=${join(folder, 'stranger')}`)).rejects.toMatchObject({
      code: 'storage',
      message,
    });
    const journal = await open(`${url}?nkey=known`, { base: folder });
    expect(await journal.append('a', 0, [note('1')])).toBe(1);
  });

  test('the certificate has expired, is not trusted or is for another name', async (context) => {
    needTool(context, 'openssl');
    const message = (pattern: RegExp) => ({ code: 'storage', message: expect.stringMatching(pattern) as string });
    const expired = makeCertificate(temporaryFolder(), { days: -1 });
    const block = ({ cert, key }: typeof expired) =>
      `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`;
    const late = await start({ config: block(expired) });
    await expect(natsJournal(`${late.url}?ca=${expired.ca}`)).rejects.toMatchObject(
      message(/certificate has expired. Renew it/),
    );
    const good = makeCertificate(temporaryFolder(), { days: 2 });
    const { url } = await start({ config: block(good) });
    await expect(natsJournal(url)).rejects.toMatchObject(message(/certificate is not trusted.*\?ca=FILE/));
    // It is for the address, and not for this name.
    await expect(
      natsJournal(`${url.replace('nats://127.0.0.1', 'tls://localhost')}?ca=${good.ca}`),
    ).rejects.toMatchObject(message(/certificate is for another name/));
    const journal = await open(`${url.replace('nats:', 'tls:')}?ca=${good.ca}`);
    expect(await journal.append('a', 0, [note('1')])).toBe(1);
  });

  test('a server that must encrypt does not', async () => {
    const message = expect.stringMatching(/does not encrypt. Servers on other machines must/) as string;
    await expect(natsJournal(servers.url.replace('nats:', 'tls:'))).rejects.toMatchObject({ code: 'storage', message });
  });

  test('there are too few servers for the replicas', async () => {
    const message = expect.stringMatching(/too few servers with JetStream for 3 replicas/) as string;
    await expect(setUpNatsJournal(`${servers.url}?prefix=three`, { replicas: 3 })).rejects.toMatchObject({
      code: 'storage',
      message,
    });
  });
});

describe('a journal on NATS', NEEDS_NATS, () => {
  test('says that a team is full, loses nothing, and continues when there is space', async () => {
    const { url } = await start({});
    await setUpNatsJournal(url, { replicas: 1, maxBytes: 20_000 });
    const journal = await open(url);
    await fill(journal, 'a', 1);
    const large = [note(randomBytes(6_000).toString('hex'))];
    await journal.append('a', 1, large);
    const message = expect.stringMatching(/it is full .*--max-bytes; nothing was changed/) as string;
    await expect(journal.append('a', 2, large)).rejects.toMatchObject({ code: 'storage', message });
    expect(await collect(journal.read('a', 0))).toHaveLength(2);
    expect(await setUpNatsJournal(url, { maxBytes: 0 })).toMatchObject({ created: false, changed: 1 });
    expect(await journal.append('a', 2, large)).toBe(3);
  });

  test('says that a batch does not fit a message, and writes nothing', async () => {
    const { url } = await start({ config: 'max_payload: 100KB' });
    const journal = await open(url);
    // Compressed it is small.
    expect(await journal.append('a', 0, [note('x'.repeat(1_000_000))])).toBe(1);
    const message = expect.stringMatching(/Raise max_payload/) as string;
    const noise = [note(randomBytes(200_000).toString('base64'))];
    await expect(journal.append('a', 1, noise)).rejects.toMatchObject({ code: 'invalid', message });
    expect(await collect(journal.read('a', 1))).toEqual([]);
  });

  test('continues after a lost connection and after a server restart', async () => {
    const { nodes } = await start({});
    const [node] = nodes;
    const proxy = await startProxy(node!.port);
    const journal = await open(`nats://127.0.0.1:${proxy.port}`, PATIENT);
    await fill(journal, 'a', 3);
    const abort = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of journal.follow('a', 0, abort.signal)) seen.push(seq);
    })();
    proxy.cut();
    const appended = journal.append('a', 3, [note('4')]);
    await until('it has tried in vain', () => proxy.refused > 0);
    proxy.mend();
    expect(await appended).toBe(4);
    await node!.kill();
    const next = journal.append('a', 4, [note('5')]);
    await node!.start();
    expect(await next).toBe(5);
    expect(await texts(journal.read('a', 0))).toEqual(['1', '2', '3', '4', '5']);
    await expect.poll(() => seen).toEqual([1, 2, 3, 4, 5]);
    abort.abort();
    await following;
  });

  test('drops a team although an election interrupts the search for its snapshot', async () => {
    const { nodes } = await start({});
    let asked = 0;
    const { port } = await startProxy(nodes[0]!.port, (text) =>
      text.replace('"code":404,"err_code":10037', (none) => (asked++ === 0 ? '"code":503,"err_code":10008' : none)),
    );
    const journal = await open(`nats://127.0.0.1:${port}`, PATIENT);
    await fill(journal, 'a', 1);
    asked = 0;
    await journal.drop('a');
    expect(asked).toBe(2);
    expect(await journal.teams()).toEqual([]);
  });

  test('fails with storage when no server answers, and reads the stored batches afterwards', async () => {
    const { nodes, url } = await start({});
    const journal = await open(url, { awayMs: 500 });
    await fill(journal, 'a', 1);
    expect(journal.away()).toBeUndefined();
    await nodes[0]!.kill();
    const away = { code: 'storage', message: expect.stringMatching(/NATS servers at .* are not reachable \(since /) };
    await expect(journal.append('a', 1, [note('2')])).rejects.toMatchObject(away);
    await expect(collect(journal.read('a', 0))).rejects.toMatchObject(away);
    await expect(journal.teams()).rejects.toMatchObject(away);
    expect(journal.away()?.message).toMatch(/: check that nats-server runs there .* tests both\.$/);
    await nodes[0]!.start();
    const patient = await open(url);
    expect(await texts(patient.read('a', 0))).toEqual(['1']);
    expect(await patient.append('a', 1, [note('2')])).toBe(2);
  });
});

describe('unreachable servers', NEEDS_NATS, () => {
  test('are reported before patience ends, whether dead or silent; later calls fail at once', async () => {
    const { nodes, url } = await start({});
    const [node] = nodes;
    // The patience is so long that only unreachable servers can end a call here.
    const journal = await open(url, { patienceMs: 100 * HANG_MS, awayMs: 1_000 });
    await fill(journal, 'a', 1);
    const told = async (work: Promise<unknown>, more = '') => {
      const message = expect.stringMatching(new RegExp(`not reachable \\(since .*${more}`)) as string;
      await expect(work).rejects.toMatchObject({ message });
    };
    const untried = 'Nothing was changed\\.$';
    // SIGSTOP cannot be caught. The kernel still accepts connections for the paused server, which stays silent.
    await pauseProcess(node!.pid);
    await told(journal.append('a', 1, [note('2')]), 'It is unknown whether it was done until one answers\\.$');
    await told(collect(journal.read('a', 0)), untried);
    process.kill(node!.pid, 'SIGCONT');
    await expect.poll(() => journal.away()).toBeUndefined();
    const kept = await texts(journal.read('a', 0));
    expect(kept[0]).toBe('1');
    await node!.kill();
    await told(journal.append('a', kept.length, [note('3')]));
    await told(journal.append('a', kept.length, [note('3')]), untried);
    await told(journal.teams(), untried);
    await node!.start();
    await expect.poll(() => journal.away()).toBeUndefined();
    expect((await texts(journal.read('a', 0)))[0]).toBe('1');
  });

  test('the journal leaves a server that withholds some answers', async () => {
    const { nodes } = await start({});
    let isDeaf = false;
    const proxy = await startProxy(nodes[0]!.port, (said) => {
      // A new connection begins with INFO.
      if (said.startsWith('INFO')) isDeaf = false;
      // Removes only the answer to an append; the same packet may have answers for others.
      return isDeaf ? said.replaceAll(/MSG [^\r\n]*\r\n[^\r\n]*"seq":[^\r\n]*\r\n/g, '') : said;
    });
    // Longer than the timeout of one request: a single missing answer is no reason to leave.
    const timing = { ...PATIENT, stuckMs: 4_000 };
    const journal = await open(`nats://127.0.0.1:${proxy.port}`, timing);
    await fill(journal, 'a', 1);
    isDeaf = true;
    let reads = 0;
    const reading = (async () => {
      for (; isDeaf; reads++) await journal.teams();
    })();
    expect(await journal.append('a', 1, [note('2')])).toBe(2);
    expect({ isDeaf, hasRead: reads > 0 }).toEqual({ isDeaf: false, hasRead: true });
    await reading;
    expect(await texts(journal.read('a', 0))).toEqual(['1', '2']);
  });

  test('the journal notices and leaves a server that no longer delivers requests of other machines', async () => {
    const { nodes } = await start({});
    let isDeaf = false;
    const proxy = await startProxy(nodes[0]!.port, (said) => {
      if (said.startsWith('INFO')) isDeaf = false;
      return isDeaf && said.includes('.door.alpha ') ? '' : said;
    });
    const { hosts } = await open(`nats://127.0.0.1:${proxy.port}`);
    const stop = hosts.answer('alpha', async () => 'heard');
    const other = await open(`nats://127.0.0.1:${nodes[0]!.port}`);
    const ask = (timeoutMs = HANG_MS) => other.hosts.ask('alpha', {}, { timeoutMs });
    await expect.poll(() => hosts.checkHearing('alpha')).toBe(true);
    expect(await ask()).toBe('heard');
    isDeaf = true;
    await expect(ask(100)).rejects.toMatchObject({ code: 'storage' });
    // One failed check may be chance.
    expect(await hosts.checkHearing('alpha')).toBe(false);
    expect(await hosts.checkHearing('alpha')).toBe(false);
    await expect.poll(() => hosts.checkHearing('alpha')).toBe(true);
    expect(await ask()).toBe('heard');
    stop();
  });

  test('a server that answered while this process was blocked counts as reachable', async (context) => {
    context.skip(!existsSync('/proc/net/tcp'), 'only /proc shows what is unread in a socket');
    const [node] = (await start({})).nodes;
    const nc = await connect({ port: node!.port });
    onTestFinished(() => nc.close());
    const reach = watchReach(nc, 'there');
    await pauseProcess(node!.pid);
    const judged = reach.unheard(performance.now(), { isTimeout: true });
    // The request is sent. Then its answer arrives and its timeout passes while this process is blocked.
    await setImmediate();
    process.kill(node!.pid, 'SIGCONT');
    const giveUp = performance.now() + HANG_MS;
    while (!hasUnread(node!.port)) expect(performance.now()).toBeLessThan(giveUp);
    execFileSync('sleep', ['1.5']);
    await judged;
    expect(reach.awaySince).toBeUndefined();
  });

  test('a server is not blamed for the time in which this process was suspended, only for missing answers', async () => {
    const [node] = (await start({})).nodes;
    const nc = await connect({ port: node!.port });
    onTestFinished(() => nc.close());
    const reach = watchReach(nc, 'there');
    const aMinuteAgo = performance.now() - 60_000;
    reach.unacknowledged(aMinuteAgo);
    expect(reach.isMute).toBe(false);
    await reach.unheard(aMinuteAgo, { isTimeout: true });
    expect(reach.awaySince).toBeUndefined();
    for (let askedAt = aMinuteAgo; askedAt < performance.now(); askedAt += 10_000) reach.unacknowledged(askedAt);
    expect(reach.isMute).toBe(true);
  });

  test('a machine that does not answer is blamed by name, not the servers', async () => {
    const { url } = await start({});
    const journal = await open(url);
    await expect(journal.hosts.ask('other', {}, { timeoutMs: 500 })).rejects.toMatchObject({
      message: expect.stringMatching(/^The machine other does not answer: check there/),
    });
  });
});

describe('the example configuration', NEEDS_NATS, () => {
  test('allows everything that a journal needs, and nothing more', async () => {
    const folder = temporaryFolder();
    const files = writeServerConfigs('nats://127.0.0.1:4444', folder);
    expect(files.map(({ name }) => name)).toEqual(['n1.conf', 'daemon.nk']);
    const key = join(folder, 'daemon.nk');
    writeFileSync(key, files[1]!.text);
    chmodSync(key, 0o600);
    expect(files[0]!.text).toContain('listen: "127.0.0.1:4444"');
    const server = await start({ config: /^accounts \{.*^\}/ms.exec(files[0]!.text)![0] });
    const journal = await open(`${server.url}?nkey=${key}`);
    await fill(journal, 'a', 30);
    await journal.saveSnapshot('a', { seq: 30, body: 'all' });
    await journal.saveSnapshot('a', { seq: 30, body: 'all of it' });
    expect(await journal.loadSnapshot('a')).toEqual({ seq: 30, body: 'all of it' });
    expect(await texts(journal.read('a', 0))).toHaveLength(30);
    for await (const { seq } of journal.follow('a', 0, new AbortController().signal)) if (seq === 30) break;
    expect(await journal.teams()).toEqual(['a']);
    await journal.drop('a');
    expect(await journal.teams()).toEqual([]);
    // It cannot write under another prefix. Accounts are what separates journals.
    const other = await open(`${server.url}?nkey=${key}&prefix=other`);
    const message = expect.stringMatching(/may not publish other\..*permissions that troupe journal init/) as string;
    await expect(other.append('a', 0, [note('1')])).rejects.toMatchObject({ code: 'storage', message });
  });

  test.each([
    'nats://127.0.0.1:4222',
    'nats://127.0.0.1:4222,127.0.0.1:4223',
    'tls://n1.example:4222,n2.example:4222,n3.example:4222',
  ])('is accepted by nats-server: %s', async (url) => {
    const folder = temporaryFolder();
    makeCertificate(folder, { days: 2 });
    for (const { name, text } of writeServerConfigs(url, folder)) {
      const path = join(folder, name);
      writeFileSync(path, text);
      if (name.endsWith('.conf')) execFileSync('nats-server', ['-t', '-c', path], { cwd: folder, stdio: 'pipe' });
    }
    expect(readFileSync(join(folder, 'daemon.nk'), 'utf8')).toMatch(/^SU[A-Z2-7]{56}\n$/);
  });
});
