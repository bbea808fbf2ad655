import { join } from 'node:path';
import type { Agent, Turn, TurnEnd } from '../../src/agents/agent.ts';
import { OWN_AGENTS } from '../../src/agents/catalog.ts';
import { startProcess } from '../../src/agents/process.ts';
import { turnByTurn } from '../../src/agents/turns.ts';
import { CallError } from '../../src/client/errors.ts';
import { SHUTDOWN } from '../../src/core/member-marks.ts';
import { callOperation } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import { watchAbsence } from '../../src/teammate/absence.ts';
import type { Change, Door } from '../../src/teammate/door.ts';
import { openWork } from '../../src/teammate/open-work.ts';
import { patientDoor } from '../../src/teammate/patience.ts';
import { startOf } from '../../src/teammate/start.ts';
import { runTeammate } from '../../src/teammate/teammate.ts';
import type { Around } from './around.ts';
import type { Machine } from './machine.ts';
import { AGENT } from './processes.ts';
import { later, scheduler } from './scheduler.ts';

interface Who {
  readonly teamId: string;
  readonly memberId: string;
}

/** A member, and what marks all its processes. */
interface Marked extends Who {
  readonly marker: string;
}

/**
 * A member's way to the daemon of its machine. Like the real client, it sends a call again under the same id when the
 * connection is back, for as long as it takes.
 */
function simulatedDoor(
  world: Around,
  machine: Machine,
  who: Who,
  { signal, tell }: { signal: AbortSignal; tell: (isReached: boolean) => void },
): Door {
  const { network } = world;
  const random = scheduler.random(`door ${who.memberId}`);
  const caller = { scope: 'member', ...who } as const;
  const never = new AbortController().signal;

  /** One try: undefined if the connection broke. */
  async function tryOnce(
    name: OperationName,
    input: unknown,
    commandId: string,
  ): Promise<{ value: unknown } | { error: unknown } | undefined> {
    const { daemon } = machine;
    if (!daemon?.isOpen) return undefined;
    const { owner, services } = daemon;
    tell(true);
    const from = scheduler.owner();
    return new Promise((resolve) => {
      // The kernel tells at once that the daemon is gone.
      const gone = (): void => void scheduler.plan(0.2, () => resolve(undefined), from);
      const end = (outcome: { value: unknown } | { error: unknown }): void => {
        daemon.onGone.delete(gone);
        network.send(owner, from, () => resolve(outcome));
      };
      daemon.onGone.add(gone);
      // A connection may break at any moment, also long after the request arrived.
      if (world.isFaulty && random.chance(0.03)) scheduler.plan(random.between(0, 3_000), gone, from);
      network.send(from, owner, () => {
        const call = async (): Promise<unknown> => {
          if (name === 'task.claim') await world.claims();
          const { leadId } = await services.ledger.view(who.teamId, ({ team }) => ({ leadId: team?.leadId }));
          const isLead = leadId === who.memberId;
          const scoped = isLead ? ({ ...caller, scope: 'lead' } as const) : caller;
          const result = await callOperation(services, name, {
            caller: scoped,
            input,
            commandId,
            signal: never,
          });
          return JSON.parse(JSON.stringify(result ?? null)) as unknown;
        };
        call().then(
          (value) => end({ value }),
          (error: unknown) => end({ error }),
        );
      });
    });
  }

  return {
    async call(name, input, { commandId = crypto.randomUUID() } = {}) {
      world.checks.called(commandId, who.memberId, machine.name);
      for (;;) {
        const outcome = await tryOnce(name, JSON.parse(JSON.stringify(input)), commandId);
        if (outcome && 'error' in outcome) {
          world.checks.refused(who, name, outcome.error);
          throw outcome.error;
        }
        if (outcome) {
          world.checks.acknowledged(who, name, input, outcome.value);
          return outcome.value as never;
        }
        tell(false);
        // A process that must stop does not wait for a daemon that may never return.
        if (signal.aborted) throw new CallError('no_daemon', 'The client was closed');
        await later(LOOK_MS);
      }
    },
    async *changes(signal, after): AsyncGenerator<Change> {
      const from = scheduler.owner();
      // A socket keeps their order.
      const arrived = new Map<number, Change>();
      let next = after;
      let wake = (): void => {};
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        const { daemon } = machine;
        if (!daemon?.isOpen) {
          await Promise.race([later(LOOK_MS), aborted(signal)]);
          continue;
        }
        const { owner, services } = daemon;
        const stop = new AbortController();
        let isLost = false;
        tell(true);
        const lose = (): void => {
          isLost = true;
          tell(false);
          wake();
        };
        const gone = (): void => void scheduler.plan(0.2, lose, from);
        daemon.onGone.add(gone);
        const begun = next;
        network.send(from, owner, () => {
          const follow = async (): Promise<void> => {
            for await (const batch of services.ledger.follow(who.teamId, begun, stop.signal)) {
              network.send(owner, from, () => {
                arrived.set(batch.seq, batch);
                wake();
              });
            }
          };
          follow().then(gone, gone);
        });
        while (!signal.aborted && !isLost) {
          const batch = arrived.get(next + 1);
          arrived.delete(next + 1);
          if (batch) {
            next = batch.seq;
            yield batch;
          } else await new Promise<void>((resolve) => (wake = resolve));
        }
        stop.abort();
        daemon.onGone.delete(gone);
      }
    },
  };
}

/** How often it looks whether its daemon is back. */
const LOOK_MS = 100;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** The process of a member: its loop is the real one, its agent and its connection are simulated. Returns the exit code. */
export async function runMember(world: Around, machine: Machine, marked: Marked, stop: AbortSignal): Promise<number> {
  const { teamId, memberId, marker } = marked;
  const who = { teamId, memberId };
  const lost = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  const onError = (error: unknown): void => world.checks.error(error, { memberId });
  const absence = watchAbsence({ leaseMs: () => machine.leaseMs, onOver: () => lost.abort() });
  absence.tell(false);
  const door = simulatedDoor(world, machine, who, { signal, tell: (isReached) => absence.tell(isReached) });
  const patient = patientDoor(door, { signal, onError });
  const member = await patient.call('member.show', who);
  const team = await patient.call('team.show', { teamId });
  const work = member.workspace === 'own' ? await openWork(door, who, { signal, onError }) : undefined;
  if (!member.agent) return 1;
  const ending = await runTeammate({
    door,
    agent: simulatedAgent(world, machine, { ...who, marker }, patient),
    signal,
    onError,
    worksApart: work !== undefined,
    account: world.accountOf(memberId),
    transcriptPath: (sessionId) => join(machine.directory, 'transcripts', memberId, `${sessionId}.jsonl`),
    ...startOf({ team, member, agent: member.agent }, { cwd: '/', env: {} }),
  });
  absence.close();
  if (ending === 'crashed') return 1;
  if (ending === 'stopped') return 143;
  if (ending === 'shutdown') {
    await patient
      .call('member.remove', { teamId, memberId, reason: SHUTDOWN })
      .catch((error: unknown) => onError(error));
  }
  return 0;
}

/** An agent that does what the seed says: works for a while, changes files, fails, hangs, is refused by its provider. */
function simulatedAgent(world: Around, machine: Machine, { teamId, memberId, marker }: Marked, door: Door): Agent {
  const random = scheduler.random(`agent ${memberId}`);
  return {
    kind: 'function',
    abilities: OWN_AGENTS.function,
    async start({ resume }) {
      const sessionId = resume ?? crypto.randomUUID();
      return turnByTurn(
        sessionId,
        async (turn, emit, signal): Promise<TurnEnd> => {
          const { task, messages } = turn;
          const refused = world.refusalOf(memberId);
          if (refused) {
            await later(50);
            world.checks.asked(true);
            return { type: 'turnEnd', reason: 'failed', text: '', error: 'limited', ...refused };
          }
          world.checks.asked(false);
          world.checkAlone(memberId, machine.name);
          // It takes an hour until that is noticed: too long beside natives, which look at their files every second.
          const hangs = world.isFaulty && random.chance(0.01) && !world.isNative;
          const ms = random.between(200, 15_000);
          // An agent may end a turn without its messages. It does so once: nobody repeats them without end.
          const isForgetful = random.chance(0.05) && messages.every(({ redeliveries }) => redeliveries === 0);
          const shownAt = isForgetful ? 4 : random.below(4);
          const program = await startProcess({ command: AGENT, cwd: '/', env: {}, marker });
          const gone = program.exited.then(() => {
            throw new Error('The program of the agent is gone');
          });
          gone.catch(() => {});
          try {
            if (hangs) await Promise.race([ended(signal), gone]);
            for (let part = 0; part < 4 && !signal.aborted; part++) {
              await Promise.race([later(ms / 4), aborted(signal), gone]);
              if (part === shownAt && !signal.aborted) {
                emit({ type: 'shown', messageIds: messages.map(({ id }) => id) });
                world.checks.shown(memberId, sessionId, messages);
              }
              emit({ type: 'text', text: 'at it' });
            }
          } finally {
            await program.stop(AGENT_GRACE_MS);
          }
          signal.throwIfAborted();
          if (random.chance(0.2)) {
            const message = { teamId, toId: world.otherThan(memberId), content: `From ${memberId}` };
            await door.call('message.send', message).catch((error: unknown) => world.checks.error(error, { memberId }));
          }
          if (task) world.edit(machine.folders, memberId, task.id);
          if (world.isFaulty && random.chance(0.03)) throw new Error('The agent could not do it');
          return { type: 'turnEnd', reason: 'done', text: resultOf(turn) };
        },
        { close: () => later(random.between(0, 5_000)) },
      );
    },
  };
}

/** How long the program of an agent may take to end. */
const AGENT_GRACE_MS = 1_000;

/** The program of an agent. It ends when it is told to, most of the time. */
export async function runAgent(signal: AbortSignal): Promise<number> {
  await aborted(signal);
  await later(scheduler.random('agents').between(0, 2 * AGENT_GRACE_MS));
  return 143;
}

function resultOf({ task }: Turn): string {
  return task ? `did ${task.id}` : 'read';
}

async function ended(signal: AbortSignal): Promise<never> {
  await aborted(signal);
  throw new Error('ended');
}
