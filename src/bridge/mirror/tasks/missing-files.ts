import { lstatSync } from 'node:fs';
import { TeamError } from '../../../core/errors.ts';
import { printAt } from '../../json-file.ts';
import { readMark } from '../../task-file.ts';
import type { Shared } from '../shared.ts';

/** Tells deleted task files from absent ones, which were moved for a moment or lost with their directory. */
export interface MissingFiles {
  /** Whether there is a task list to compare with. If it has vanished, nothing is concluded from that. */
  isHere(): Promise<boolean>;
  /** Those of the missing tasks that count as deleted by now. */
  deleted(missing: readonly string[]): Promise<string[]>;
}

/** More than this many at once were hardly deleted one by one. */
const FEW = 3;

interface Away {
  readonly since: number;
  /** Claude Code's own record of deleted numbers, as it was while the file existed. */
  readonly mark: string;
  looks: number;
  /** It vanished with many others. */
  isOneOfMany: boolean;
}

/** Starts watching. */
export function watchMissingFiles({ paths, step, times }: Pick<Shared, 'paths' | 'step' | 'times'>): MissingFiles {
  const away = new Map<string, Away>();
  let wasThere = false;
  let mark = printAt(paths.highWaterMark);

  const isDirectory = (): boolean => lstatSync(paths.tasks, { throwIfNoEntry: false })?.isDirectory() ?? false;

  /** Claude Code records the number of a task that it deletes: then it was deleted on purpose. */
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
          `${paths.tasks} is missing: the tasks here stay as they are, and are compared again when it is back`,
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
    `${natives.length} tasks have no file in ${folder} any more (${some}), all at once, and stay here: put the files back, ` +
      `or delete the tasks with "troupe task delete"`,
  );
}
