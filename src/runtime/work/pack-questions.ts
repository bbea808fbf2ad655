import { z } from 'zod';
import { CommitId } from '../../core/team-work.ts';
import { PushedPack, WorkPack } from '../../core/work.ts';

/** The other daemons that share the journal. */
export interface Others {
  /** Those that are alive. */
  names(): readonly string[];
  ask(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;
}

/** Asks another daemon for what this one does not find. */
export const PackQuestion = z.object({
  about: z.literal('work-pack'),
  teamId: z.string(),
  want: z.array(CommitId).min(1).max(16),
  have: z.array(CommitId).max(1_000),
  isFirst: z.boolean(),
  /** Whether it can come by the remote of the team. */
  byRemote: z.boolean().default(false),
});
export type PackQuestion = z.output<typeof PackQuestion>;

/** Packing a large project takes a while. */
const ASK_MS = 120_000;

/** Asks one daemon; undefined if it does not have all of it. */
export async function askForPack(
  others: Others,
  name: string,
  question: Omit<PackQuestion, 'about'>,
): Promise<WorkPack | undefined> {
  const told = await others.ask(name, { about: 'work-pack', ...question }, { timeoutMs: ASK_MS });
  return told === null || told === undefined ? undefined : WorkPack.parse(told);
}

/** Asks the daemons, until one pushes commits whose history this machine lacks. */
export async function askToPush(others: Others, teamId: string, want: readonly string[]): Promise<void> {
  const question = { teamId, want: [...want], have: [], isFirst: false, byRemote: true };
  for (const name of others.names()) {
    const told = await askForPack(others, name, question).catch(() => undefined);
    if (PushedPack.safeParse(told).success) return;
  }
}
