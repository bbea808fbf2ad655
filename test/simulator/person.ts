import { USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import { callOperation } from '../../src/operations/index.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { Around } from './around.ts';
import { BASE, TEAM } from './cast.ts';
import type { Cast } from './cast.ts';
import type { Daemon } from './daemon.ts';
import { GATE } from './gates.ts';
import { OUTSIDER, startClients } from './outsider.ts';
import { later, newOwner, scheduler } from './scheduler.ts';

/** What the person sees of the world. */
interface Surroundings extends Around {
  readonly cast: Cast;
}

/** The person who wants something of the team. It calls any daemon that runs. */
export class Person {
  readonly #world: Surroundings;
  readonly #owner = newOwner('person');

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** Does something. What goes wrong is a violation, if it should not. */
  does(work: () => Promise<unknown>): void {
    const run = (): void => void work().catch((error: unknown) => this.#world.checks.error(error, { by: 'person' }));
    scheduler.plan(1, run, this.#owner);
  }

  /** Calls some daemon that runs, again under the same id until there is an answer. */
  call<T>(name: OperationName, input: object): Promise<T> {
    return this.#ask((daemon, commandId) =>
      callOperation(daemon.services, name, {
        caller: ADMIN,
        input,
        commandId,
        signal: new AbortController().signal,
      }),
    ) as Promise<T>;
  }

  #execute(command: NewCommand): Promise<unknown> {
    return this.#ask(({ services: { ledger } }, commandId) =>
      ledger.execute(TEAM, { ...command, commandId }, () => undefined),
    );
  }

  async #ask(work: (daemon: Daemon, commandId: string) => Promise<unknown>): Promise<unknown> {
    const commandId = crypto.randomUUID();
    for (;;) {
      const daemon = this.#world.anyDaemon();
      if (daemon) {
        try {
          return await this.#world.network.ask(daemon.owner, () => work(daemon, commandId), 15_000);
        } catch (error) {
          if (!['storage', 'overloaded'].includes((error as { code?: string }).code ?? '')) throw error;
        }
      }
      await later(500);
    }
  }

  /** Brings up the team. */
  async setUp(): Promise<void> {
    const { members, tasks, apart } = this.#world.cast;
    const work = {
      workspaces: 'own',
      repository: '/project',
      prefix: '',
      base: BASE,
      branch: `troupe/${TEAM}`,
    } as const;
    const input = parse(CreateTeamInput, { name: TEAM });
    if (this.#world.isNative) await this.#ask(({ services }) => services.native.join(TEAM));
    else await this.#execute({ type: 'team.create', by: USER, ...input, ...(apart && { work }) });
    await this.#execute({ type: 'hook.register', by: USER, hook: GATE });
    const random = scheduler.random('cast');
    for (let at = 1; at <= members; at++) {
      const agent = { kind: 'exec', command: ['true'] };
      const joining = parse(JoinInput, {
        name: `w${at}`,
        agent,
        status: 'spawning',
        ...(apart && { workspace: 'own' }),
      });
      await this.#execute({ type: 'member.join', by: USER, ...joining });
    }
    await this.#execute({ type: 'member.join', by: USER, ...parse(JoinInput, { name: OUTSIDER }) });
    startClients(this.#world, TEAM);
    for (let at = 1; at <= tasks; at++) {
      const dependencies = at > 3 && random.chance(0.3) ? [String(1 + random.below(at - 1))] : [];
      await this.call('task.create', { teamId: TEAM, title: `Item ${at}`, dependencies });
    }
  }

  /** What a person does now and then: answers what is asked, tries again what failed. */
  async lookAfter(): Promise<void> {
    const open = await this.call<{ id: string; kind: string }[]>('request.list', { teamId: TEAM, status: 'pending' });
    for (const { id, kind } of open) {
      const said = kind === 'question' ? { feedback: 'Yes' } : {};
      const answer = { teamId: TEAM, requestId: id, approve: true, ...said };
      await this.call('request.answer', answer).catch((error: unknown) =>
        this.#world.checks.error(error, { by: 'answer' }),
      );
    }
    const failed = [...this.#world.checks.state.tasks.values()].filter(({ status }) => status === 'failed');
    for (const { id } of failed) {
      await this.call('task.reopen', { teamId: TEAM, taskId: id }).catch((error: unknown) =>
        this.#world.checks.error(error, { by: 'reopen' }),
      );
    }
    // A member that crashed too often waits for a person.
    for (const { id, status, returning, agent } of this.#world.checks.state.members.values()) {
      if (status !== 'stopped' || returning || !agent) continue;
      await this.call('member.restart', { teamId: TEAM, memberId: id }).catch((error: unknown) =>
        this.#world.checks.error(error, { by: 'restart' }),
      );
    }
  }

  /** A person stops and restarts members, gives tasks to them, and writes to all. */
  async intervene(): Promise<void> {
    const random = scheduler.random('person');
    const memberId = `w${1 + random.below(this.#world.cast.members)}`;
    const open = [...this.#world.checks.state.tasks.values()].filter(({ status }) => status === 'pending');
    const task = open.length > 0 ? random.pick(open) : undefined;
    const ways: (() => Promise<unknown>)[] = [
      () => this.call('member.restart', { teamId: TEAM, memberId }),
      () => this.call('member.stop', { teamId: TEAM, memberId }),
      () => Promise.all([this.#change('member.stop', memberId), this.#change('member.restart', memberId)]),
      () => this.call('message.send', { teamId: TEAM, toId: memberId, content: 'Quick', priority: 'urgent' }),
      () => this.call('message.broadcast', { teamId: TEAM, content: 'To all' }),
      // The lead of a joined team is the native one.
      async () => !this.#world.isNative && this.call('team.update', { teamId: TEAM, leadId: memberId }),
      async () => task && this.call('task.assign', { teamId: TEAM, taskId: task.id, assigneeId: memberId }),
    ];
    await random.pick(ways)();
  }

  /** What a person does to a member; it may be too late for it. */
  #change(name: 'member.stop' | 'member.restart', memberId: string): Promise<unknown> {
    return this.call(name, { teamId: TEAM, memberId }).catch((error: unknown) =>
      this.#world.checks.error(error, { by: name }),
    );
  }

  /** A person takes the gate away, and puts it back later. */
  async removeGate(ms: number): Promise<void> {
    await this.call('hook.remove', { teamId: TEAM, type: GATE.type });
    await later(ms);
    await this.#execute({ type: 'hook.register', by: USER, hook: GATE });
  }

  async sendMessage(): Promise<void> {
    const random = scheduler.random('person');
    const toId = random.chance(0.3) ? OUTSIDER : `w${1 + random.below(this.#world.cast.members)}`;
    await this.call('message.send', { teamId: TEAM, toId, content: `Note ${random.below(1_000)}` });
  }
}
