import { CircleCheck, GitMerge, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { useTeam } from '../data/use-team.tsx';
import { Counts } from '../diff/file-words.tsx';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { Command } from '../parts/command.tsx';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { Modal } from '../parts/modal.tsx';
import { say } from '../parts/toast.tsx';
import { Form } from './form.tsx';
import type { FormProps } from './form.tsx';

type Work = ResultOf<'work.show'>;

/** Merges what has landed into the user's checkout. */
export function MergeBranch({ teamId, isOpen, onClose }: FormProps & { teamId: string }) {
  return (
    <Modal title="Merge the branch" isOpen={isOpen} onClose={onClose}>
      <MergeForm teamId={teamId} onClose={onClose} />
    </Modal>
  );
}

function MergeForm({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const { work, failure } = useWork(teamId);
  const open = useTeam(({ view }) => view.counts.in_progress + view.counts.gate);
  const merge = async (signal: AbortSignal): Promise<void> => {
    const { branch, into = 'the detached HEAD', merged } = await call('work.merge', { teamId }, { signal });
    say(merged ? `Merged ${branch} into ${into}` : `${into} has all of ${branch} already`);
  };
  const obstacle = work && whyNot(work);
  return (
    <Form verb="Merge" busyVerb="Merging…" isBlocked={!work || obstacle !== undefined} submit={merge} onClose={onClose}>
      <FailureNote failure={failure} />
      {!work && !failure && <p className="hint">Reading the branch…</p>}
      {work && obstacle === undefined && <Plan work={work} />}
      {work && obstacle !== undefined && (
        <p className="start-line">
          <span className={`status ${work.isMerged ? 'is-completed' : 'is-gate'}`}>
            {work.isMerged ? <CircleCheck size={15} aria-hidden /> : <TriangleAlert size={15} aria-hidden />}
          </span>
          <span className="text">{showControls(obstacle)}</span>
        </p>
      )}
      {work?.repository === undefined && work?.workspaces === 'own' && (
        <Command text={`troupe merge --team ${teamId}`} />
      )}
      {open > 0 && obstacle === undefined && work && (
        <p className="hint">
          {plural(open, 'task')} {open === 1 ? 'is' : 'are'} still in progress. You can merge again when more has
          landed.
        </p>
      )}
    </Form>
  );
}

function Plan({ work: { branch = '', into, repository = '', files = 0, added, removed } }: { work: Work }) {
  return (
    <>
      <p className="start-line">
        <span className="status is-in_progress">
          <GitMerge size={15} aria-hidden />
        </span>
        <span className="text">
          <b>{showControls(branch)}</b> into <b>{showControls(into ?? 'the detached HEAD')}</b>, which is checked out in{' '}
          <bdi className="mono">{showControls(repository)}</bdi>: {plural(files, 'file')}{' '}
          <Counts added={added} removed={removed} />
        </span>
      </p>
      <p className="hint">
        The daemon uses your git, with your hooks and identity. A merge that would conflict is not begun, and nothing of
        yours is stashed.
      </p>
    </>
  );
}

/** Why there is nothing to merge here; undefined if there is. */
function whyNot({
  workspaces,
  base,
  tip,
  isMerged,
  repository,
  branch = '',
  into = 'Your checkout',
}: Work): string | undefined {
  if (workspaces === 'shared') return 'The members of this team share a folder: their changes are there already.';
  if (base === tip) return `Nothing has landed on ${branch} yet.`;
  if (repository === undefined) {
    return 'This machine has no checkout of the repository where it was. Run this where you have one:';
  }
  return isMerged ? `${into} has all of ${branch} already.` : undefined;
}

function useWork(teamId: string): { work: Work | undefined; failure: Failure | undefined } {
  const [work, setWork] = useState<Work>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    call('work.show', { teamId }).then(setWork, (error: unknown) => setFailure(failureOf(error)));
  }, [teamId]);
  return { work, failure };
}
