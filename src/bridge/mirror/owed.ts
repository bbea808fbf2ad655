import { z } from 'zod';
import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { MailMirror } from './mail.ts';
import { uuidOf } from './names.ts';
import type { MirrorParts } from './parts.ts';
import { questionOf } from './questions.ts';

/** Where a team keeps what the native lead has yet to be told. */
const OWED = 'nativeOwed';

/** What is kept of a longer text for the daemon that comes next; this one writes all of it. */
const KEPT_LENGTH = 200;

/** More than this is owed to a lead that does not read any more; a team's metadata is small. */
const OWED_AT_MOST = 40;

/** Questions are looked up when they are asked. */
const Owed = z.object({
  id: z.string(),
  kind: z.enum(['idle', 'question', 'gone']),
  memberId: z.string(),
  requestId: z.string().optional(),
  /** The result of a turn, or why somebody left. */
  text: z.string().optional(),
});
type Owed = z.output<typeof Owed>;

/** What members of ours have to say to the native lead by protocol: kept in the journal until it lies in its inbox. */
export interface Debts {
  /** Takes one up. */
  owe(debt: Omit<Owed, 'id'>): Promise<void>;
  /** Writes what is owed; what cannot be written now is tried again, whoever runs the daemon then. */
  pay(): Promise<void>;
  /** Resolves when all that was taken up is on record. */
  noted(): Promise<unknown>;
}

/** Begins with what the journal knows. */
export function keepDebts(parts: MirrorParts, mail: MailMirror): Debts {
  const { ledger, teamId } = parts;
  const whole = new Map<string, string>();
  /** One change of the list after the other. */
  let last: Promise<unknown> = Promise.resolve();
  const change = (edit: (owed: readonly Owed[]) => readonly Owed[]): Promise<void> => {
    const run = async (): Promise<void> => {
      const next = edit(await ledger.view(teamId, owedIn));
      const metadata = { [OWED]: next.length > 0 ? next.map((one) => ({ ...one })) : null };
      await ledger.execute(teamId, { type: 'team.update', by: SYSTEM, metadata }, () => undefined);
    };
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };

  const write = async (debt: Owed): Promise<void> => {
    const { kind, memberId, requestId = '' } = debt;
    const text = whole.get(debt.id) ?? debt.text;
    const id = uuidOf(`${teamId} owes ${debt.id}`);
    if (kind === 'gone') return mail.tellGone(memberId, text, id);
    if (kind === 'idle') return mail.tellIdle(memberId, text, id);
    // One that was answered meanwhile is none any more.
    const question = await ledger.view(teamId, (state) => {
      const request = state.requests.get(requestId);
      return request?.status === 'pending' ? questionOf(state, request, parts.stream) : undefined;
    });
    if (question) await mail.ask(memberId, question, id);
  };

  return {
    async owe(debt) {
      const id = crypto.randomUUID();
      const { text, ...rest } = debt;
      const owed: Owed = { ...rest, id, ...(text !== undefined && { text: text.slice(0, KEPT_LENGTH) }) };
      if (text !== undefined) whole.set(id, text);
      try {
        await change((before) => {
          const kept = [...before, owed].slice(-OWED_AT_MOST);
          if (kept.length <= before.length) {
            parts.report(`the lead of ${parts.paths.name} was not told of all that it is owed`);
          }
          return kept;
        });
      } catch (error) {
        if (!(error instanceof TeamError)) throw error;
        // A team that is closed keeps nothing any more; it is said once, as far as that goes.
        await parts.step(`word of ${debt.memberId} to the lead`, () => write(owed));
      }
    },
    async pay() {
      for (const debt of await ledger.view(teamId, owedIn)) {
        await parts.step(`word of ${debt.memberId} to the lead (${debt.kind} ${debt.id.slice(0, 8)})`, async () => {
          await write(debt);
          await change((owed) => owed.filter(({ id }) => id !== debt.id));
          whole.delete(debt.id);
        });
      }
    },
    noted: () => last,
  };
}

function owedIn(state: TeamState): readonly Owed[] {
  return z.array(Owed).safeParse(state.team?.metadata?.[OWED]).data ?? [];
}
