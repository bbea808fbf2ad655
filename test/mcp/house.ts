import { Client } from '@modelcontextprotocol/client';
import type { CallToolResult, ClientOptions, Transport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { serveMcpLines } from '../../src/mcp/lines.ts';
import type { Greeting } from '../../src/mcp/session.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import type { Caller } from '../../src/operations/caller.ts';
import { callOperation } from '../../src/operations/index.ts';
import type { InputOf, OperationName } from '../../src/operations/index.ts';
import type { DaemonService, Services } from '../../src/operations/operation.ts';
import { openTeams } from '../../src/runtime/teams.ts';
import type { TeamWorks } from '../../src/runtime/work/team-works.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openWaitingRoom } from './waiting-room.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** Everything below the faces, in memory. Its members run themselves; no process is started. */
export interface House {
  readonly services: Services;
  /** Runs an operation as a person, or in the name of a member. */
  call<R>(name: OperationName, input: InputOf<OperationName>, as?: string): Promise<R>;
  /** The calls that wait for something to happen. */
  readonly room: WaitingRoom;
  /** All that happened to a team. */
  events(teamId: string): Promise<TeamEvent[]>;
  /** Lands what waits in the merge queues. */
  land(): Promise<void>;
  /** Takes over what an earlier house left in the journal, as a daemon does when it starts. */
  start(): Promise<void>;
  /** Ends it before the test does. */
  close(): Promise<void>;
}

export function openHouse({
  worksOf,
  journal = memoryJournal(),
}: { worksOf?: (ledger: Ledger) => TeamWorks; journal?: Journal } = {}): House {
  const ledger = new Ledger(journal, { exclusive: true });
  const works = worksOf?.(ledger);
  const teams = openTeams({
    ledger,
    home: homeAt(temporaryFolder()),
    hostId: 'test',
    environment: process.env,
    teammateCommand: ['false'],
    memberToken: async () => 'token',
    ...(works && { works }),
    onError: (error) => {
      throw error;
    },
  });
  const services: Services = { ...teams, ledger, works, daemon: {} as DaemonService, native: {} as Services['native'] };
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await teams.supervisor.close({ end: true });
    await teams.close();
    await ledger.close();
  };
  onTestFinished(() => (closing ??= close()));
  return {
    services,
    start: () => teams.start(),
    close: () => (closing ??= close()),
    land: () => teams.land(),
    room: openWaitingRoom(ledger),
    call: <R>(name: OperationName, input: InputOf<OperationName>, as?: string) =>
      callOperation(services, name, { caller: ADMIN, input, as, signal: new AbortController().signal }) as Promise<R>,
    events: async (teamId) => {
      const events: TeamEvent[] = [];
      for await (const batch of ledger.read(teamId, 0)) events.push(...batch.events);
      return events;
    },
  };
}

/** A house with a team: `lead`, and the members named. */
export async function openTeam(names: readonly string[] = ['alice', 'bob'], options: object = {}): Promise<House> {
  const house = openHouse();
  await house.call('team.create', { name: 'demo', ...options });
  for (const name of names) await house.call('member.add', { teamId: 'demo', name });
  return house;
}

/** The credential of a member of the team `demo`. */
export function member(memberId: string, scope: Caller['scope'] = 'member'): Caller {
  return { scope, teamId: 'demo', memberId };
}

/** The credential of its lead. */
export const LEAD: Caller = member('lead', 'lead');

/** The official client, connected by lines as through the stdio proxy. */
export async function connect(
  house: House,
  caller: Caller,
  { greeting, ...options }: { greeting?: Greeting } & ClientOptions = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(lineTransport(house, caller, greeting));
  onTestFinished(() => client.close());
  // A connection itself is a listener too, even if it does not wait.
  house.room.empty();
  return client;
}

function lineTransport(house: House, caller: Caller, greeting: unknown): Transport {
  let isClosed = false;
  const transport: Transport = {
    start: async () => {},
    send: async (message) => lines.receive(JSON.stringify(message)),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      lines.close();
      transport.onclose?.();
    },
  };
  const send = (line: string): void => {
    // As over a socket: a line arrives later.
    setImmediate(() => isClosed || transport.onmessage?.(JSON.parse(line)));
  };
  const lines = serveMcpLines(house.services, { caller, greeting, send });
  return transport;
}

/** The answer of a tool: its text and its data. */
export interface Said {
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests look into it as they like.
  readonly data: any;
  readonly isError: boolean;
}

/** Calls a tool and checks the form of its answer. */
export async function use(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  options?: Parameters<Client['callTool']>[1],
): Promise<Said> {
  const result: CallToolResult = await client.callTool({ name, arguments: input }, options);
  expect(result.content).toHaveLength(1);
  const [content] = result.content;
  const data = result.structuredContent;
  expect(typeof data === 'object' && data !== null && !Array.isArray(data)).toBe(true);
  return { text: content?.type === 'text' ? content.text : '', data, isError: result.isError ?? false };
}

/** The error code of a tool's refusal. */
export async function refusal(client: Client, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { isError, data, text } = await use(client, name, input);
  expect(isError, text).toBe(true);
  expect(text).toBe(`${data.error.code}: ${data.error.message}`);
  return data.error.code as string;
}

/** The names of the tools that a client sees. */
export async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}
