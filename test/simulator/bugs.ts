/** Today's code, and what it was before. */
export interface Edit {
  /** In `src/`. */
  readonly file: string;
  readonly now: string;
  readonly before: string;
}

/** A bug that this project once had. */
export interface Bug extends Edit {
  readonly name: string;
  /** The runs that look for it; `team` if nothing is said. */
  readonly kind?: 'bridge' | 'nats';
  /** The commit that mended it. */
  readonly mendedBy: string;
  /** Other places that the same commit changed. */
  readonly also?: readonly Edit[];
  /** What a later change added in the same file against the same mishap; without it the bug would do no harm. */
  readonly guards?: readonly string[];
  /** In which run the simulator found it, and after how many steps since the run with seed 1. */
  readonly found?: { readonly seed: number; readonly steps: number };
}

/** Everything that brings a bug back. */
export function editsOf({ file, now, before, also = [], guards = [] }: Bug): Edit[] {
  return [{ file, now, before }, ...also, ...guards.map((guard) => ({ file, now: guard, before: '' }))];
}

/** Set TROUPE_SIMULATED_BUG to a name, and the simulator looks for it. */
export const BUGS: readonly Bug[] = [
  {
    name: 'a process that starts holds tasks that it does not know',
    mendedBy: '1fd27832',
    file: 'core/rules/member.ts',
    now: 'const forgotten = releaseForgotten(state, command);',
    before: 'const forgotten: TeamEvent[] = [];',
    found: { seed: 19, steps: 390_110 },
  },
  {
    name: 'a process speaks for a member that another machine runs',
    mendedBy: '8cc32e65',
    file: 'core/decide.ts',
    now: "if (command.type !== 'usage.record') requireHost(state, command.by, onHost);",
    before: '',
    found: { seed: 2, steps: 12_123 },
  },
  {
    name: 'members of a daemon whose lease was over stay without a process',
    mendedBy: '8cc32e65',
    file: 'runtime/supervisor.ts',
    now: 'adrift: this.#adrift.find(teamId, this.#unattended(teamId, state)),',
    before: 'adrift: [] as MemberRecord[],',
    found: { seed: 4, steps: 73_117 },
  },
  {
    name: 'a process that was about to start is left when its member stops',
    mendedBy: 'a67d3bf8',
    file: 'runtime/supervisor.ts',
    now: 'await this.#starting.get(`${teamId}/${memberId}`);',
    before: '',
    found: { seed: 20, steps: 385_755 },
  },
  {
    name: 'a process outlives the lease of its daemon',
    mendedBy: '52d81770',
    file: 'teammate/absence.ts',
    now: 'onOver(longest);',
    before: '',
    found: { seed: 3, steps: 38_370 },
  },
  {
    name: 'a member that waited for its restart when the daemon died never comes back',
    mendedBy: '0abda37f',
    file: 'runtime/supervisor.ts',
    now: 'for (const member of returning) this.#returns.add(teamId, member, 0);',
    before: 'void returning;',
    found: { seed: 20, steps: 380_850 },
  },
  {
    name: 'a member brought back while its old process ended is never started',
    mendedBy: '0abda37f',
    file: 'runtime/supervisor.ts',
    now: 'await (asked ? this.#startAgain(process) : this.died(process, how));',
    before: 'if (!asked) await this.died(process, how);',
    found: { seed: 7, steps: 142_201 },
  },
  {
    name: 'the gate of a repeated call runs twice',
    mendedBy: '7a886f92',
    file: 'ledger/running-calls.ts',
    now: 'if (before) return before;',
    before: '',
    found: { seed: 2, steps: 10_225 },
  },
  {
    name: 'the merge queue judges alone what it is about to land',
    mendedBy: 'b8cd2f2c',
    file: 'runtime/landing/alone.ts',
    now: 'new Set([...landing, ...chosen()].map(nameOfWork))',
    before: 'new Set([...landing].map(nameOfWork))',
    found: { seed: 27, steps: 511_896 },
  },
  {
    name: 'work that cannot be judged alone is judged again at once, without end',
    mendedBy: 'd77dc16e',
    file: 'runtime/landing/alone.ts',
    now: "known.set(name, 'unclear');\n        if (!isClosed)",
    before: 'known.delete(name);\n        if (!isClosed)',
    found: { seed: 11, steps: 212_072 },
  },
  {
    name: 'a message goes back to a session that a newer one followed',
    mendedBy: 'd78fd40f',
    file: 'core/rules/message.ts',
    now: 'else if (message.formerSessions?.includes(command.sessionId)) continue;',
    before: '',
    found: { seed: 2, steps: 13_243 },
  },
  {
    name: 'several things at a time touch a team',
    mendedBy: '25c3be3a',
    file: 'ledger/team-writer.ts',
    now: 'const turn = this.#turnsLeft === 0 ? work() : this.#turns.then(work);',
    before: 'const turn = work();',
    found: { seed: 2, steps: 5_698 },
  },
  {
    name: 'a daemon that writes before its lease is renewed hangs',
    mendedBy: '8cc32e65',
    file: 'runtime/hosts/keeper.ts',
    now: 'reconsidering ??= reconsiderAll().finally(() => (reconsidering = undefined));',
    before: 'await reconsiderAll();',
    found: { seed: 3, steps: 46_094 },
  },
  {
    name: 'a member found dead twice is restarted twice',
    mendedBy: '38c4c7ad',
    file: 'runtime/returns.ts',
    now: 'if (waiting.has(key)) return;',
    before: '',
    guards: ['if (!isWaiting) return;'],
    found: { seed: 1, steps: 451 },
  },
  {
    name: 'a member that somebody else terminated is not restarted',
    mendedBy: 'e76cf365',
    file: 'runtime/member-processes.ts',
    now: 'const { record, asked } = running;',
    before: "const { record } = running;\n    const asked = running.asked || how === 'exit code 143';",
    found: { seed: 51, steps: 912_036 },
  },
  {
    name: 'a message whose turn did not show it is never shown',
    mendedBy: 'd2702f7c',
    file: 'teammate/work.ts',
    now: 'bench.mail.doubt([...messageIds, ...joined]);',
    before: '',
    found: { seed: 3, steps: 205_606 },
  },
  {
    name: 'a process is signalled that got the number of one of ours',
    mendedBy: 'a7cfb689',
    file: 'agents/process.ts',
    now: 'if (now && (now.startTime !== startTime || TABLE.bootId() !== bootId)) return;',
    before: '',
    found: { seed: 11, steps: 344_735 },
  },
  {
    name: 'a native team that is joined while the daemon starts has two mirrors',
    kind: 'bridge',
    mendedBy: '656ab9cc',
    file: 'bridge/mirrors.ts',
    now: 'if (present) return present;',
    before: '',
    found: { seed: 2, steps: 11_313 },
  },
  {
    name: 'a claim is answered before the mirror has compared the native files',
    kind: 'bridge',
    mendedBy: '656ab9cc',
    file: 'bridge/mirror/tasks/claims.ts',
    now: 'await compared;',
    before: '',
    found: { seed: 45, steps: 972_558 },
  },
  {
    name: 'a native reservation takes a task from the member that claimed it meanwhile',
    kind: 'bridge',
    mendedBy: '69d7b7cd',
    file: 'bridge/mirror/tasks/commands.ts',
    now: 'steps.push(...ifStill(task, giveFree(task, moves)));',
    before: 'steps.push(...giveFree(task, moves));',
    also: [
      { file: 'bridge/mirror/tasks/tasks.ts', now: 'if (isMoved) return false;', before: '' },
      { file: 'bridge/mirror/tasks/claims.ts', now: "error.code === 'stale_epoch'", before: 'false' },
    ],
  },
  {
    name: 'a claim that the last daemon could not write is believed, not the natives that were first',
    kind: 'bridge',
    mendedBy: '95dc73dc',
    file: 'bridge/mirror/tasks/tasks.ts',
    now: 'if (await claims.yields(native, taskId, now.task)) return shared.again();',
    before: '',
    found: { seed: 12, steps: 258_258 },
  },
  {
    name: 'a pass of a mirror begins while another is under way',
    kind: 'bridge',
    mendedBy: 'cc3f7a88',
    file: 'bridge/mirror/rhythm.ts',
    now: 'running = Promise.resolve().then(turn);',
    before: 'running = turn();',
    also: [
      {
        file: 'bridge/mirror/tasks/new-tasks.ts',
        now: '!book.toTask.has(id) && !underWay.has(id)',
        before: 'id !== undefined',
      },
    ],
    found: { seed: 2, steps: 12_638 },
  },
  {
    name: 'a journal that cannot write takes work from a native',
    kind: 'bridge',
    mendedBy: '93ba3cb9',
    file: 'bridge/mirror/tasks/commands.ts',
    now: " && error.code !== 'storage' && error.code !== 'overloaded'",
    before: '',
    found: { seed: 19, steps: 381_333 },
  },
  {
    name: 'a cluster that says for a moment that a team is gone is believed',
    kind: 'nats',
    mendedBy: '9eb0658c',
    file: 'journal/nats/streams.ts',
    now: 'const doubts = isCluster(link) ? DOUBTS.times : 0;',
    before: 'const doubts = 0;',
    found: { seed: 6, steps: 182_700 },
  },
];
