import { lstatSync } from 'node:fs';
import { TeamError } from '../../../core/errors.ts';
import { printAt } from '../../json-file.ts';
import { readMark } from '../../task-file.ts';
import type { Shared } from '../shared.ts';

/** Tells task files that were deleted from those that are only away: moved for a moment, or lost with their directory. */
export interface MissingFiles {
  /** Whether there is a list to compare with; where there was one and is none, nothing is concluded from that. */
  isHere(): Promise<boolean>;
  /** Of the tasks whose files are missing, those that count as deleted by now. */
  deleted(missing: readonly string[]): Promise<string[]>;
}

/** More than so many at a time were hardly deleted one by one. */
const FEW = 3;

interface Away {
  readonly since: number;
  /** The program's own note of what it deleted, as it was while the file was there. */
  readonly mark: string;
  looks: number;
  /** It went with many others. */
  isOneOfMany: boolean;
}

/** Begins to watch. */
export function watchMissingFiles({ paths, step, times }: Pick<Shared, 'paths' | 'step' | 'times'>): MissingFiles {
  const away = new Map<string, Away>();
  let wasThere = false;
  let mark = printAt(paths.highWaterMark);

  const isDirectory = (): boolean => lstatSync(paths.tasks, { throwIfNoEntry: false })?.isDirectory() ?? false;

  /** The program deletes a task and notes its number: then it was done on purpose. */
  const isOnPurpose = (native: string, known: Away): boolean =>
    printAt(paths.highWaterMark) !== known.mark && readMark(paths) >= Number(native);

  return {
    async isHere() {
      const isThere = isDirectory();
      wasThere ||= isThere;
      await step('task list', () => {
        if (isThere || !wasThere) return;
        throw new TeamError(
          'not_found',
          `${paths.tasks} is not there: the tasks stay as they are here, and are compared again when it is back`,
        );
      });
      if (!isThere) away.clear();
      return isThere || !wasThere;
    },
    async deleted(missing) {
      const now = performance.now();
      for (const native of away.keys()) if (!missing.includes(native)) away.delete(native);
      for (const native of missing) {
        const known = away.get(native) ?? { since: now, mark, looks: 0, isOneOfMany: false };
        known.looks++;
        away.set(native, known);
      }
      mark = printAt(paths.highWaterMark);
      const unexplained = [...away].filter(([native, known]) => !isOnPurpose(native, known));
      if (unexplained.length > FEW) for (const [, known] of unexplained) known.isOneOfMany = true;
      const isRipe = ({ since, looks }: Away): boolean => looks > 1 && now - since >= times.grace && isDirectory();
      const kept = unexplained.filter(([, known]) => known.isOneOfMany && isRipe(known)).map(([native]) => native);
      await step('missing tasks', () => {
        if (kept.length > 0) throw missingError(paths.tasks, kept);
      });
      return [...away].filter(([native, known]) => isRipe(known) && !kept.includes(native)).map(([native]) => native);
    },
  };
}

function missingError(folder: string, natives: readonly string[]): TeamError {
  const some = natives.slice(0, 5).join(', ') + (natives.length > 5 ? ', …' : '');
  return new TeamError(
    'not_found',
    `${natives.length} tasks have no file in ${folder} any more (${some}), all at once, and are kept here: put the files back, ` +
      `or delete the tasks with "troupe task delete"`,
  );
}
