import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { anchorAddress, readNatsAddress, repeatAddress } from '../../src/journal/nats/address.ts';
import { judgeDurability } from '../../src/journal/nats/durability.ts';
import { writeServerConfigs } from '../../src/journal/nats/server-config.ts';

describe('the address of a journal on NATS', () => {
  test('names servers, with a port of its own, and files relative to a folder', () => {
    const text = 'nats://a,b:4333?prefix=p&ca=ca.pem&cert=c.pem&key=/k.pem&monitor=http://a:8222';
    expect(readNatsAddress(text, '/home')).toEqual({
      servers: ['a:4222', 'b:4333'],
      prefix: 'p',
      tls: true,
      caFile: '/home/ca.pem',
      certFile: '/home/c.pem',
      keyFile: '/k.pem',
      monitor: 'http://a:8222',
    });
  });

  test('has a port, a prefix and no encryption by default on this machine', () => {
    const servers = ['localhost:4222'];
    expect(readNatsAddress('nats://localhost', '/')).toStrictEqual({ servers, prefix: 'troupe', tls: false });
  });

  test.each([
    ['nats://localhost', false],
    ['nats://[::1]:4222', false],
    ['nats://127.0.0.9', false],
    ['nats://127.example', true],
    ['nats://10.0.0.1', true],
    ['nats://localhost,10.0.0.1', true],
    ['tls://localhost', true],
  ])('%s is encrypted: %s', (text, isEncrypted) => {
    expect(readNatsAddress(text, '/').tls).toBe(isEncrypted);
  });

  test.each([
    ['http://a', 'write nats://host:port'],
    ['nats://a:b:c', '"a:b:c" is not a host and port'],
    ['nats://a,,b', 'a host is missing'],
    ['nats://me:secret@a', 'everybody on the machine can see a password'],
    ['nats://a?creds=x&nkey=y', 'give creds or nkey, not both'],
    ['nats://a?cert=x', 'cert and key go together'],
    ['nats://a?monitor=a:8222', 'monitor is an address'],
    ['nats://a?ca=', 'ca is empty'],
    ['nats://a?what=1', 'there is no option "what"'],
    ['nats://a?prefix=A', 'a prefix is at most 32'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => readNatsAddress(text, '/')).toThrow(why);
  });

  test('is repeated for every folder, unless it names a credential', () => {
    expect(repeatAddress('nats://a', '/home')).toBe('tls://a:4222');
    expect(repeatAddress('nats://a,b:1', '/home')).toBe('tls://a:4222,b:1');
    expect(repeatAddress('nats://localhost', '/home')).toBe('nats://localhost:4222');
    expect(repeatAddress('nats://a?ca=c.pem', '/home')).toBe('tls://a:4222?ca=%2Fhome%2Fc.pem');
    expect(repeatAddress('nats://a?prefix=p&monitor=http://a:1', '/')).toBe(
      'tls://a:4222?prefix=p&monitor=http%3A%2F%2Fa%3A1',
    );
    const secret = ['creds=x', 'nkey=x', 'cert=x&key=y'].map((one) => repeatAddress(`nats://a?${one}`, '/'));
    expect(secret).toEqual([undefined, undefined, undefined]);
  });

  test('gets absolute paths for use in another folder', () => {
    expect(anchorAddress('nats://a?prefix=p', '/home')).toBe('nats://a?prefix=p');
    expect(anchorAddress('nats://a?ca=c.pem&nkey=/n', '/home')).toBe('nats://a?ca=%2Fhome%2Fc.pem&nkey=%2Fn');
    expect(anchorAddress('nats://a?ca=what?.pem', '/home')).toBe('nats://a?ca=%2Fhome%2Fwhat%3F.pem');
    expect(anchorAddress('nats://a', '/home')).toBe('nats://a');
  });
});

describe('the files for servers', () => {
  /** What both have first. */
  const BEGINNING = `# Room for what a team writes at once.
max_payload: 8MB
# Monitoring, for this machine only. Name it in a journal's address (?monitor=...), so that daemons know when it flushes.
`;

  const accounts = (
    prefix: string,
  ): string => `# Daemons that share teams share an account. Other daemons need another account; they cannot see each other.
accounts {
  TROUPE {
    jetstream: enabled
    users: [
      {
        # The public half of daemon.nk. Each machine may have its own: one line per key.
        nkey: KEY
        permissions {
          publish: ["${prefix}.>", "$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.UPDATE.*", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.DELETE.*", "$JS.API.STREAM.PURGE.OBJ_${prefix}-snapshots", "$JS.API.STREAM.PURGE.OBJ_${prefix}-packs", "$JS.API.STREAM.MSG.GET.*", "$JS.API.CONSUMER.>", "$JS.API.DIRECT.GET.>", "$JS.FC.>", "$O.${prefix}-snapshots.>", "$O.${prefix}-packs.>", "$KV.${prefix}-hosts.>"]
          subscribe: ["_INBOX.>", "${prefix}.>", "$KV.${prefix}-hosts.*"]
          # It may answer requests of other daemons, for example for a transcript.
          allow_responses: true
        }
      }
    ]
  }
}
`;

  const jetstream = (name: string): string => `
jetstream {
  store_dir: "./${name}-data"
  # Flush before an acknowledgement: remove the # on nats-server 2.10 and later. 2.9 does not start with this line.
  # sync_interval: always
}

`;

  const textsOf = (url: string): string[] =>
    writeServerConfigs(url, '/').map(({ text }) => text.replace(/nkey: U[A-Z2-7]{55}$/m, 'nkey: KEY'));

  test('of a cluster name the others, encrypt, and allow what a daemon needs', () => {
    const files = writeServerConfigs('tls://n1.example:4222,n2.example:4333?prefix=p', '/');
    expect(files.map(({ name, isPrivate }) => ({ name, isPrivate }))).toEqual([
      { name: 'n1.conf', isPrivate: false },
      { name: 'n2.conf', isPrivate: false },
      { name: 'daemon.nk', isPrivate: true },
    ]);
    const [, second] = textsOf('tls://n1.example:4222,n2.example:4333?prefix=p');
    expect(second).toBe(`# Server 2 of 2: nats-server -c n2.conf
server_name: n2
listen: "n2.example:4333"
${BEGINNING}http: "127.0.0.1:8223"
${jetstream('n2')}# For client connections. Servers on other machines must have it: daemons refuse those without.
tls {
  cert_file: "./server.pem"
  key_file: "./server.key"
  ca_file: "./ca.pem"
}

cluster {
  name: troupe
  listen: "n2.example:6333"
  routes: ["nats://n1.example:6222", "nats://n2.example:6333"]
  # For the servers among themselves. Servers on other machines must have it: daemons refuse those without.
  tls {
    cert_file: "./server.pem"
    key_file: "./server.key"
    ca_file: "./ca.pem"
  }
}

${accounts('p')}`);
  });

  test('of one server on this machine need no certificates', () => {
    expect(textsOf('nats://127.0.0.1:4222')[0]).toBe(`# Server 1 of 1: nats-server -c n1.conf
server_name: n1
listen: "127.0.0.1:4222"
${BEGINNING}http: "127.0.0.1:8222"
${jetstream('n1')}${accounts('troupe')}`);
  });

  test('of a cluster on this machine need none either', () => {
    const [first = ''] = textsOf('nats://127.0.0.1:4222,127.0.0.1:4223');
    expect(first).not.toContain('tls {');
    expect(first).toContain('  routes: ["nats://127.0.0.1:6222", "nats://127.0.0.1:6223"]\n}\n\n#');
  });
});

describe('when servers flush', () => {
  /** Monitoring that answers so. */
  async function monitor(status: number, config?: object, body: object = { jetstream: { config } }): Promise<string> {
    const server = createServer(({ url }, response) => {
      response.writeHead(url === '/varz' ? status : 404).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const judge = (monitored: string | undefined, version = '2.11.0', replicas = 1) =>
    judgeDurability(
      { ...readNatsAddress('nats://localhost', '/'), ...(monitored !== undefined && { monitor: monitored }) },
      { version, replicas },
    );
  const advice = (text: string): string => expect.stringContaining(text) as string;

  test('is known of old servers, and else only from their monitoring', async () => {
    expect(await judge(undefined, '2.9.10')).toEqual({
      durability: 'lazy',
      advice: advice(': a power failure may lose what was acknowledged. Upgrade to 2.10 or later, and set'),
    });
    expect(await judge(undefined, '2.9.10', 3)).toEqual({
      durability: 'replicated',
      advice: advice(
        ': a power failure of most servers at once may lose what was acknowledged, and servers may hold different histories',
      ),
    });
    const unasked = { durability: 'lazy', advice: advice('cannot be asked over NATS') };
    for (const version of ['2.10.0', '2.11.3', '3.0.1']) expect(await judge(undefined, version)).toEqual(unasked);
    for (const version of ['2.9.0', '1.99.0']) expect((await judge(undefined, version)).advice).toContain('Upgrade');
  });

  test('is told by each of several servers', async () => {
    const good = await monitor(200, { sync_always: true });
    expect(await judge(good)).toEqual({ durability: 'fsync-before-ack' });
    const late = await monitor(200, { sync_interval: 120e9 });
    expect(await judge(`${good},${late}`)).toEqual({
      durability: 'lazy',
      advice: advice(`${late} acknowledges before it has flushed, every 120 s`),
    });
    for (const vague of [await monitor(200), await monitor(200, undefined, {})]) {
      expect(await judge(vague)).toEqual({
        durability: 'lazy',
        advice: advice('before it has flushed: a power failure'),
      });
    }
  });

  test('is unknown if the monitoring does not answer, or with an error', async () => {
    for (const silent of [await monitor(500), 'http://127.0.0.1:1']) {
      expect(await judge(silent, '2.11.0', 3)).toEqual({
        durability: 'replicated',
        advice: advice(`${silent} does not answer`),
      });
    }
  });
});
