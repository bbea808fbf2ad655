import { FileDiff, FileMinus2, FilePenLine, FilePlus2, FileSymlink } from 'lucide-react';
import type { Change } from '../data/diff-store.ts';
import { plural, showNumber } from '../parts/format.ts';

const ICONS = {
  added: [FilePlus2, 'is-completed', 'Added'],
  modified: [FileDiff, 'is-in_progress', 'Changed'],
  deleted: [FileMinus2, 'is-failed', 'Deleted'],
  renamed: [FilePenLine, 'is-gate', 'Renamed'],
  'type-changed': [FileSymlink, 'is-gate', 'Type changed'],
} as const;

/** What happened to a file, as an icon with a name. */
export function ChangeIcon({ change: { status } }: { change: Change }) {
  const [Icon, className, word] = ICONS[status];
  return (
    <span className={`status ${className}`} title={word}>
      <Icon size={15} aria-label={word} role="img" />
    </span>
  );
}

/** Lines added and removed. */
export function Counts({ added, removed }: { added: number | undefined; removed: number | undefined }) {
  if (added === undefined || removed === undefined || added + removed === 0) return null;
  const words = `${plural(added, 'line')} added, ${plural(removed, 'line')} removed`;
  return (
    <span className="diff-counts" role="img" aria-label={words} title={words}>
      {added > 0 && <span className="diff-added">+{showNumber(added)}</span>}
      {removed > 0 && <span className="diff-removed">−{showNumber(removed)}</span>}
    </span>
  );
}

const LINK = '120000';
const SUBMODULE = '160000';
const EXECUTABLE = '100755';

/** What changed besides the lines: `executable now`, `a symbolic link now`; empty if nothing did. */
export function modeWords({ oldMode, newMode, status }: Change): string {
  if (status === 'added') return newMode === '100644' ? '' : kindOf(newMode);
  if (status === 'deleted' || oldMode === newMode) return '';
  if (kindOf(oldMode) === kindOf(newMode)) return `mode ${oldMode} → ${newMode}`;
  return newMode === '100644' && oldMode === EXECUTABLE ? 'no longer executable' : `${kindOf(newMode)} now`;
}

function kindOf(mode: string): string {
  if (mode === LINK) return 'a symbolic link';
  if (mode === SUBMODULE) return 'a submodule';
  return mode === EXECUTABLE ? 'executable' : 'a file';
}

/** The folder and the name of a path. */
export function splitPath(path: string): readonly [folder: string, name: string] {
  const at = path.lastIndexOf('/') + 1;
  return [path.slice(0, at), path.slice(at)];
}
