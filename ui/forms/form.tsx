import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { reach } from '../data/daemon.ts';
import { useSignal } from '../data/signal.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';

/** The props of every form in a dialog. */
export interface FormProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const AWAY = 'The daemon is unreachable: you can send this when it is back.';

/**
 * The frame of every form: its fields, the error, Cancel and the submit button. On success it closes. On failure it
 * shows the error and keeps the input. A `submit` that returns `stay` has a question first. It cannot be submitted
 * while the daemon is unreachable. Closing it cancels a pending call: nobody expects a closed form to act later.
 */
export function Form({
  verb,
  busyVerb = verb,
  isDanger = false,
  isBlocked = false,
  className = '',
  submit,
  onClose,
  children,
}: {
  verb: string;
  busyVerb?: string;
  isDanger?: boolean;
  isBlocked?: boolean;
  className?: string;
  submit: (signal: AbortSignal) => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) {
  const { isBusy, failure, run } = useAct();
  const isHere = useSignal(reach) === 'live';
  const sending = useRef<AbortController>(undefined);
  useEffect(() => () => sending.current?.abort(), []);
  return (
    <form
      className={`form ${className}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (isBlocked || isBusy || !isHere) return;
        let answer: unknown;
        const { signal } = (sending.current = new AbortController());
        void run(async () => (answer = await submit(signal))).then(
          (isDone) => isDone && answer !== 'stay' && onClose(),
        );
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      {children}
      <FailureNote failure={failure} />
      {!isHere && (
        <p className="hint" role="status">
          {isBusy ? 'Waiting for the daemon, which is unreachable. Cancel discards this.' : AWAY}
        </p>
      )}
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          className={`button primary${isDanger ? ' danger' : ''}`}
          disabled={isBusy || isBlocked || !isHere}
        >
          {isBusy ? busyVerb : verb}
        </button>
      </div>
    </form>
  );
}

/** A line of text; with `rows`, several lines. */
export function TextField({
  label,
  hint,
  value,
  onChange,
  rows,
  isMono = false,
  problem,
  ...rest
}: {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  rows?: number;
  isMono?: boolean;
  /** What is wrong with the value, in place of the hint. */
  problem?: string | undefined;
  required?: boolean;
  placeholder?: string;
}) {
  const given = {
    ...rest,
    value,
    className: `input${isMono ? ' mono' : ''}`,
    ...(problem !== undefined && { 'aria-invalid': true }),
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  return (
    <label className="field">
      <span>{label}</span>
      {rows === undefined ? <input {...given} /> : <textarea rows={rows} {...given} />}
      {problem !== undefined ? (
        <span className="hint problem" role="alert">
          {problem}
        </span>
      ) : (
        hint !== undefined && <span className="hint">{hint}</span>
      )}
    </label>
  );
}

/** A choice between a few values. */
export function ChoiceField<T extends string>({
  label,
  value,
  choices,
  isDisabled = false,
  onChange,
}: {
  label: string;
  value: T;
  choices: readonly (readonly [value: T, words: string])[];
  isDisabled?: boolean;
  onChange: (value: T) => void;
}) {
  return (
    <label className="field">
      <span>{label}</span>
      <select
        className="input"
        value={value}
        disabled={isDisabled}
        onChange={(event) => {
          const chosen = choices.find(([one]) => one === event.target.value);
          if (chosen) onChange(chosen[0]);
        }}
      >
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A checkbox. */
export function CheckField({
  label,
  isChecked,
  onChange,
}: {
  label: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}
