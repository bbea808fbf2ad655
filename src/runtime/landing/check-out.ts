import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import { quote } from '../../core/text.ts';
import type { JudgedFolder } from '../../ledger/task-gate.ts';
import type { Prepared, Preparing } from '../work/prepare.ts';
import type { SetupEnd } from '../work/setup.ts';

/** Merged work that `setup` fails for. */
export interface Unready {
  readonly problem: string;
  /** The content of the setup that no person has approved: the work changes it. */
  readonly unapproved: string | undefined;
}

/** How much of the end of the setup's output the holder gets, in characters. */
const END_CHARS = 2_000;

/** Setup failed for merged work. The holder can mend that, as it can mend what a gate rejects. */
class UnreadyError extends TeamError {
  readonly unready: Unready;

  constructor(unready: Unready) {
    super('gate_rejected', unready.problem);
    this.unready = unready;
  }
}

/** Runs `setup` for merged work, if it has to run. */
export async function makeReady(
  preparing: Preparing,
  landing: Omit<Prepared, 'refuse'>,
): Promise<JudgedFolder | Unready> {
  const { place, workspace, slot } = landing;
  const refuse = ({ why = '', output, unapproved }: SetupEnd): TeamError => {
    const said = `The setup (${quote(place.work.setup?.command ?? '')}) ${why}, for this work merged with what landed since it began.`;
    const end = output.trim() === '' ? '' : `\n\nThe end of its output:\n${output.trimEnd().slice(-END_CHARS)}`;
    return new UnreadyError({ problem: `${said}${end}`, unapproved });
  };
  try {
    await preparing.prepare({ ...landing, refuse }, { step() {} });
    return { folder: folderInWorkspace(workspace.folder, place.work), slot };
  } catch (error) {
    if (error instanceof UnreadyError) return error.unready;
    throw error;
  }
}
