import { CircleCheck, ShieldAlert, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { CheckField } from './form.tsx';
import type { Check, Found } from './use-check.ts';

/** Why a team cannot be started like this; empty if it can. */
export function problemsIn({ elsewhere, unrunnable = [], broken, work, unapproved }: Found): readonly string[] {
  return [
    ...(elsewhere?.holds === true
      ? [`A team of this name belongs to ${elsewhere.folder}: choose another name, or that folder`]
      : []),
    ...unrunnable,
    ...broken.map(({ command, why }) => `${command}: ${why}`),
    // Without anything to approve, `team.up` says this itself.
    ...(work?.refused !== undefined && unapproved.length === 0 ? [work.refused] : []),
  ];
}

/** What would not work, where its members would work, and what a person must approve, before anything starts. */
export function CheckView({
  check,
  isRead,
  onRead,
}: {
  check: Check | undefined;
  isRead: boolean;
  onRead: (isRead: boolean) => void;
}) {
  if (!check) return <p className="hint">Checking…</p>;
  if (!check.found) return <FailureNote failure={check.failure} />;
  const { found } = check;
  const problems = problemsIn(found);
  const { work, unapproved } = found;
  const missing = work?.uncommitted?.length ?? 0;
  return (
    <div className="start-check" role="status">
      {problems.map((problem) => (
        <Line key={problem} className="is-failed" icon={<TriangleAlert size={15} aria-hidden />}>
          {showControls(problem)}
        </Line>
      ))}
      {work?.workspaces === 'own' && (
        <Line className="is-completed" icon={<CircleCheck size={15} aria-hidden />}>
          Each member works in its own copy; work lands on {work.branch ?? 'a branch of its own'}.
          {missing > 0 &&
            ` ${plural(missing, 'uncommitted file')} of yours will be missing there: commit to have them.`}
        </Line>
      )}
      {work?.workspaces === 'shared' && (
        <Line className="is-gate" icon={<TriangleAlert size={15} aria-hidden />}>
          All members work in this folder itself{work.why === undefined ? '' : `: ${showControls(work.why)}`}.
        </Line>
      )}
      {unapproved.length > 0 && (
        <>
          {unapproved.map((one) => (
            <Line key={one.hash} className="is-gate" icon={<ShieldAlert size={15} aria-hidden />}>
              <b>{showControls(one.command)}</b> {showControls(wordPowers(one))}
            </Line>
          ))}
          <CheckField label="I have read this and approve it" isChecked={isRead} onChange={onRead} />
        </>
      )}
    </div>
  );
}

/** What a person approves, in one line. */
function wordPowers({
  members,
  isFree,
  obeys,
  allow,
  env,
  servers,
  sandbox,
  files,
}: Found['unapproved'][number]): string {
  const list = (before: string, words: readonly string[] = []): string[] =>
    words.length > 0 ? [`${before} ${words.join(', ')}`] : [];
  return [
    ...list('for', members),
    ...(sandbox === true ? ['runs in a sandbox'] : []),
    ...(isFree === true ? ['may do everything without asking'] : []),
    ...list('may do without asking:', allow),
    ...list('obeys settings in this folder:', obeys),
    ...list('gets', env),
    ...list('has the tools of', servers),
    ...list('what it does is in', files),
  ].join('; ');
}

function Line({ className, icon, children }: { className: string; icon: ReactNode; children: ReactNode }) {
  return (
    <p className={`start-line ${className}`}>
      <span className={`status ${className}`}>{icon}</span>
      <span className="text">{children}</span>
    </p>
  );
}
