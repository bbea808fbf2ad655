import { nkeys } from '@nats-io/transport-node';
import { readNatsAddress } from './address.ts';
import type { NatsAddress } from './address.ts';

/** A file for people to read and put in place. */
export interface ExampleFile {
  readonly name: string;
  readonly text: string;
  /** It holds a secret. */
  readonly isPrivate: boolean;
}

/** An example configuration for each server of an address, and the credential that daemons use. */
export function writeServerConfigs(url: string, base: string): ExampleFile[] {
  const address = readNatsAddress(url, base);
  const user = nkeys.createUser();
  const seed = new TextDecoder().decode(user.getSeed());
  return [
    ...address.servers.map((_, at) => ({
      name: `n${at + 1}.conf`,
      text: configFor(address, at, user.getPublicKey()),
      isPrivate: false,
    })),
    { name: 'daemon.nk', text: `${seed}\n`, isPrivate: true },
  ];
}

function configFor({ servers, prefix, tls }: NatsAddress, at: number, publicKey: string): string {
  const [host, port] = splitServer(servers[at] as string);
  return [
    `# Server ${at + 1} of ${servers.length}: nats-server -c n${at + 1}.conf`,
    `server_name: n${at + 1}`,
    `listen: "${host}:${port}"`,
    '# Room for what a team writes at once.',
    'max_payload: 8MB',
    "# Monitoring, for this machine only. Name it in a journal's address (?monitor=...), so that daemons know when it flushes.",
    `http: "127.0.0.1:${8222 + at}"`,
    '',
    'jetstream {',
    `  store_dir: "./n${at + 1}-data"`,
    '  # Flush before an acknowledgement: remove the # on nats-server 2.10 and later. 2.9 does not start with this line.',
    '  # sync_interval: always',
    '}',
    '',
    ...(tls ? tlsBlock('client connections') : []),
    ...(servers.length > 1 ? clusterBlock(servers, at, tls) : []),
    ...accountsBlock(prefix, publicKey),
  ].join('\n');
}

function tlsBlock(use: string, indent = ''): string[] {
  return [
    `# For ${use}. Servers on other machines must have it: daemons refuse those without.`,
    'tls {',
    '  cert_file: "./server.pem"',
    '  key_file: "./server.key"',
    '  ca_file: "./ca.pem"',
    '}',
    '',
  ].map((line) => (line === '' ? line : indent + line));
}

function clusterBlock(servers: readonly string[], at: number, tls: boolean): string[] {
  const routes = servers.map((server, i) => {
    const [host, port] = splitServer(server);
    return { host, port: Number(port) + 2000, i };
  });
  const own = routes[at] as (typeof routes)[number];
  return [
    'cluster {',
    '  name: troupe',
    `  listen: "${own.host}:${own.port}"`,
    `  routes: [${routes.map(({ host, port }) => `"nats://${host}:${port}"`).join(', ')}]`,
    ...(tls ? tlsBlock('the servers among themselves', '  ').slice(0, -1) : []),
    '}',
    '',
  ];
}

/** One account for all daemons that share teams: what is in one account cannot be seen from another. */
function accountsBlock(prefix: string, publicKey: string): string[] {
  return [
    '# Daemons that share teams share an account. Other daemons need another account; they cannot see each other.',
    'accounts {',
    '  TROUPE {',
    '    jetstream: enabled',
    '    users: [',
    '      {',
    '        # The public half of daemon.nk. Each machine may have its own: one line per key.',
    `        nkey: ${publicKey}`,
    '        permissions {',
    `          publish: [${permissionsFor(prefix)
      .map((subject) => `"${subject}"`)
      .join(', ')}]`,
    `          subscribe: ["_INBOX.>", "${prefix}.>", "$KV.${prefix}-hosts.*"]`,
    '          # It may answer requests of other daemons, for example for a transcript.',
    '          allow_responses: true',
    '        }',
    '      }',
    '    ]',
    '  }',
    '}',
    '',
  ];
}

/** All that a daemon may publish to servers: it cannot purge a team, read advisories or act as a server. */
function permissionsFor(prefix: string): string[] {
  const api = (verb: string) => `$JS.API.${verb}`;
  return [
    `${prefix}.>`,
    ...['INFO', 'STREAM.NAMES', 'STREAM.CREATE.*', 'STREAM.UPDATE.*', 'STREAM.INFO.*', 'STREAM.DELETE.*'].map(api),
    ...['snapshots', 'packs'].map((bucket) => api(`STREAM.PURGE.OBJ_${prefix}-${bucket}`)),
    ...['STREAM.MSG.GET.*', 'CONSUMER.>', 'DIRECT.GET.>'].map(api),
    '$JS.FC.>',
    `$O.${prefix}-snapshots.>`,
    `$O.${prefix}-packs.>`,
    `$KV.${prefix}-hosts.>`,
  ];
}

function splitServer(server: string): [host: string, port: string] {
  const at = server.lastIndexOf(':');
  return [server.slice(0, at), server.slice(at + 1)];
}
