import { createContext, useContext, useState } from 'react';
import { useAct } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { record } from '../record/head.ts';
import type { Gap } from './steps.ts';

/** Reads a part of a long text, from a character on. */
export type ReadText = (gap: Gap, from: number) => Promise<{ readonly text: string }>;

/** How the long texts of a log are read. */
export const TextReader = createContext<ReadText | undefined>(undefined);

/** The output of a program. The middle of a long one is loaded on demand, part by part. */
export function LongText({ text, path, gaps }: { text: string; path: string; gaps: readonly Gap[] | undefined }) {
  const gap = gaps?.find((one) => one.path === path);
  if (!gap) return <pre className="code">{showControls(text)}</pre>;
  return <TextWithGap key={`${gap.session} ${gap.place}`} text={text} gap={gap} />;
}

function TextWithGap({ text, gap }: { text: string; gap: Gap }) {
  const read = useContext(TextReader);
  const { isBusy, failure, run } = useAct();
  const [middle, setMiddle] = useState('');
  const left = gap.to - gap.from - middle.length;
  const end = text.slice(text.length - (gap.chars - gap.to));
  const more = (): Promise<boolean> =>
    run(async () => {
      const part = await read?.(gap, gap.from + middle.length);
      if (part) setMiddle(middle + part.text.slice(0, left));
    });
  return (
    <div className="long-text">
      <pre className="code">{showControls(text.slice(0, gap.from) + middle + (left <= 0 ? end : ''))}</pre>
      {left > 0 && (
        <>
          {record ? (
            <p className="quiet">{left.toLocaleString('en')} characters are not in this record.</p>
          ) : (
            <button type="button" className="button small" disabled={isBusy} onClick={() => void more()}>
              {isBusy ? 'Loading…' : `Show more: ${left.toLocaleString('en')} characters are left out here`}
            </button>
          )}
          <FailureNote failure={failure} />
          <pre className="code">{showControls(end)}</pre>
        </>
      )}
    </div>
  );
}
