import { RotateCcw, Trash2, Undo2, UserRoundCheck, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSignal } from '../../data/signal.ts';
import { useCanAct } from '../../data/use-can-act.ts';
import { useStore } from '../../data/use-team.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { useKeys } from '../../parts/keys.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { chooseNone, chosen } from './chosen.ts';
import './bulk.css';
import type { Deed } from './plan.ts';

const DEEDS = [
  ['assign', 'Give to…', UserRoundCheck],
  ['release', 'Release…', Undo2],
  ['reopen', 'Retry…', RotateCcw],
  ['delete', 'Delete…', Trash2],
] as const;

/** What can be done with the chosen tasks. Nothing happens before its effect was shown. */
export function BulkBar() {
  const store = useStore();
  const ids = useSignal(chosen);
  const canAct = useCanAct();
  const [deed, setDeed] = useState<Deed>();
  useEffect(() => chooseNone, [store]);
  useKeys({ ...(ids.size > 0 && { Escape: chooseNone }) });
  if (ids.size === 0 && deed === undefined) return null;
  return (
    <div className="bulk" role="toolbar" aria-label="Chosen tasks">
      <b className="bulk-count" role="status">
        {ids.size} chosen
      </b>
      {DEEDS.map(([name, word, Icon]) => (
        <button
          key={name}
          type="button"
          className={`button small${name === 'delete' ? ' danger' : ''}`}
          disabled={!canAct}
          aria-label={word}
          title={word}
          onClick={() => setDeed(name)}
        >
          <Icon size={14} aria-hidden /> <span>{word}</span>
        </button>
      ))}
      <IconButton className="small" onClick={chooseNone} label="Choose none" title="Choose none (Esc)">
        <X size={15} aria-hidden />
      </IconButton>
      <BulkDialog deed={deed} onClose={() => setDeed(undefined)} />
    </div>
  );
}
