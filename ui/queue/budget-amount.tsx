import { useState } from 'react';
import type { RequestShown } from './answer.ts';

/** How much more of a budget a person gives. */
interface Amount {
  /** Undefined if the request is not about a budget. */
  readonly unit: string | undefined;
  readonly text: string;
  /** What the button says. */
  readonly value: number | undefined;
  /** What goes with the answer: nothing, if it is what the request offers. */
  readonly given: number | undefined;
  readonly isRight: boolean;
  readonly isWhole: boolean;
  readonly set: (text: string) => void;
}

const UNITS: Readonly<Record<string, string>> = {
  costUsd: 'US dollars',
  tokens: 'tokens',
  turns: 'turns',
  minutes: 'minutes',
};

/** The amount that a yes gives: at first what the request offers. */
export function useAmount({ kind, detail }: RequestShown): Amount {
  const { what, grants } = detail ?? {};
  const [text, set] = useState<string>();
  const unit = kind === 'budget' && typeof grants === 'number' ? UNITS[String(what)] : undefined;
  const isWhole = what === 'tokens' || what === 'turns';
  const offered = typeof grants === 'number' ? grants : 0;
  const written = text === undefined ? undefined : Number(text);
  const isRight = written === undefined || (written > 0 && (!isWhole || Number.isInteger(written)));
  return {
    unit,
    text: text ?? String(Number(offered.toFixed(2)) || offered),
    value: isRight ? written : undefined,
    given: unit !== undefined && isRight ? (written ?? offered) : undefined,
    isRight: unit === undefined || isRight,
    isWhole,
    set,
  };
}

/** The field in which a person changes it. */
export function AmountField({ amount, canAct }: { amount: Amount; canAct: boolean }) {
  const { unit, text, isWhole, isRight, set } = amount;
  if (unit === undefined) return null;
  return (
    <label className="amount">
      <span>How much more, in {unit}</span>
      <input
        className="input"
        type="number"
        min={isWhole ? 1 : 0}
        step={isWhole ? 1 : 'any'}
        value={text}
        disabled={!canAct}
        aria-invalid={!isRight}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  );
}
