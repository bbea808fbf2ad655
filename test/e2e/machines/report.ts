import { readFileSync } from 'node:fs';
import type { Admin } from '../../nats/admin.ts';
import { HANG_MS, pauseAfter } from '../../until.ts';
import { processesOf } from '../stage.ts';
import type { Machine } from './stage.ts';

/** How long the report waits for a daemon, which may hang. */
const PATIENCE_MS = 3_000;

/** How many of a log's last lines the report shows. */
const LINES = 30;

/**
 * Waits until a number of a team's tasks are done, or until another condition holds. If the team makes no progress, it
 * fails with a full report, even if the first daemon hangs.
 */
export function watchTeam(teamId: string, machines: readonly [Machine, ...Machine[]], admin?: Admin) {
  const [{ connection }] = machines;
  const settled = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
    const late = new AbortController();
    const hangs = new Promise<never>((_, reject) => {
      late.signal.addEventListener('abort', () => reject(new Error(`Waited ${HANG_MS / 1_000} s in vain: ${what}`)));
    });
    const timer = setTimeout(() => late.abort(), HANG_MS);
    const began = performance.now();
    try {
      while (!(await Promise.race([condition(), hangs]))) {
        await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - began)));
      }
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await reportOn(machines, teamId, admin)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    settled,
    done: (count: number) =>
      settled(`${count} tasks are done`, async () => {
        const { tasks } = await connection.call('team.status', { teamId });
        return (tasks['completed'] ?? 0) >= count;
      }),
  };
}

/** Collects why a team on several machines makes no progress: what each daemon says, its log, the streams. */
async function reportOn(machines: readonly Machine[], teamId: string, admin?: Admin): Promise<string> {
  const parts = await Promise.all(machines.map((machine) => reportMachine(machine, teamId)));
  return [...parts, admin ? await reportStreams(admin) : ''].join('\n');
}

async function reportMachine(machine: Machine, teamId: string): Promise<string> {
  const { name, connection, home } = machine;
  const ask = async (what: string, call: Promise<unknown>) => `${what}: ${await withinTime(call)}`;
  const lines = [
    await ask('status', connection.call('team.status', { teamId })),
    await ask(
      'members',
      connection
        .call('team.show', { teamId })
        .then(({ members }) => members.map(({ id, status, hostId, metadata }) => [id, status, hostId, metadata])),
    ),
    await ask(
      'tasks under way',
      connection
        .call('task.list', { teamId, status: 'in_progress' })
        .then((tasks) => tasks.map(({ id, assigneeId, epoch }) => [id, assigneeId, epoch])),
    ),
    await ask(
      'hosts',
      connection.call('daemon.status', {}).then(({ hosts, health }) => ({ hosts, health })),
    ),
    `processes: ${JSON.stringify(processesOf(home).map(({ pid, command }) => [pid, command.slice(-90)]))}`,
    ...logLines(home.log),
  ];
  return [`=== ${name}`, ...lines].join('\n');
}

function logLines(path: string): string[] {
  try {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.filter((line) => !line.includes('hook.ran')).slice(-LINES);
  } catch (error) {
    return [String(error)];
  }
}

async function reportStreams({ jsm }: Admin): Promise<string> {
  const names = await jsm.streams.names().next();
  const streams = await Promise.all(
    names.map(async (name) => {
      const { state, cluster } = await jsm.streams.info(name);
      const consumers = await jsm.consumers.list(name).next();
      const standing = consumers.map((one) => [one.name, one.delivered.stream_seq, one.num_pending, one.num_waiting]);
      return `${name}: ${JSON.stringify({ last: state.last_seq, leader: cluster?.leader, consumers: standing })}`;
    }),
  ).catch((error: unknown) => [String(error)]);
  return ['=== streams', ...streams].join('\n');
}

async function withinTime(work: Promise<unknown>): Promise<string> {
  const late = new Promise<string>((resolve) => setTimeout(() => resolve('NO ANSWER'), PATIENCE_MS).unref());
  return Promise.race([work.then((value) => JSON.stringify(value)).catch(String), late]);
}
