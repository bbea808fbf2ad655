import { useEffect, useState } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { navigate, teamPath } from '../data/route.ts';
import type { FormProps } from '../forms/form.tsx';
import { Form } from '../forms/form.tsx';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural } from '../parts/format.ts';
import { Modal } from '../parts/modal.tsx';
import { PHASE_WORDS } from '../parts/status.tsx';

type Preview = ResultOf<'native.preview'>;

/** Shows what a join would change, here and in the files of the native team, before it is done. */
export function JoinForm({ name, title, isOpen, onClose }: FormProps & { name: string; title: string }) {
  return (
    <Modal title={`Join ${title}?`} isOpen={isOpen} onClose={onClose} isWide>
      {isOpen && <JoinFields name={name} onClose={onClose} />}
    </Modal>
  );
}

function JoinFields({ name, onClose }: { name: string; onClose: () => void }) {
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    const stop = new AbortController();
    call('native.preview', { name }, { signal: stop.signal }).then(setPreview, (error: unknown) => {
      if (!stop.signal.aborted) setFailure(failureOf(error));
    });
    return () => stop.abort();
  }, [name]);
  const join = async (signal: AbortSignal): Promise<void> => {
    const { teamId } = await call('native.join', { name }, { signal });
    navigate(teamPath(teamId));
  };
  return (
    <Form verb="Join" busyVerb="Joining…" isBlocked={!preview} submit={join} onClose={onClose}>
      {preview ? (
        <Changes preview={preview} />
      ) : (
        <p className="hint">{failure ? '' : 'Finding out what would change…'}</p>
      )}
      <FailureNote failure={failure} />
    </Form>
  );
}

function Changes({ preview }: { preview: Preview }) {
  const { teamId, isNew, members, tasks, messages, files } = preview;
  return (
    <>
      <p>
        {isNew ? 'The team ' : 'The team here, '}
        <b>{teamId}</b>
        {isNew ? ' is created here.' : ', is synchronized again.'} Tasks, messages and members are synchronized both
        ways. Natives keep the tasks that they hold.
      </p>
      <h3>
        Here <span className="quiet">{summaryOf({ members, tasks, messages })}</span>
      </h3>
      <ul className="join-changes" aria-label="Changes here">
        {members.length > 0 && <li>Members that join: {showControls(members.join(', '))}</li>}
        {tasks.map(({ id, title, before, ...now }) => (
          <li key={id}>
            <span className="mono quiet">#{id}</span> {showControls(title)}:{' '}
            {before ? `${standing(before)} becomes ${standing(now)}` : `new, ${standing(now)}`}
          </li>
        ))}
      </ul>
      <h3>
        Files of Claude Code <span className="quiet">{plural(files.length, 'file')} written</span>
      </h3>
      <ul className="join-changes" aria-label="Files that are written">
        {files.map(({ path, changes }) => (
          <li key={path}>
            <code className="text">{showControls(path)}</code>
            <br />
            {showControls(changes.join('; '))}
          </li>
        ))}
      </ul>
    </>
  );
}

function summaryOf({ members, tasks, messages }: Pick<Preview, 'members' | 'tasks' | 'messages'>): string {
  return [
    plural(members.length, 'member'),
    plural(tasks.length, 'task'),
    ...(messages > 0 ? [plural(messages, 'message')] : []),
  ].join(' · ');
}

function standing({ status, assigneeId }: Pick<Preview['tasks'][number], 'status' | 'assigneeId'>): string {
  const word = (status === 'deleted' ? status : PHASE_WORDS[status]).toLowerCase();
  return assigneeId === undefined ? word : `${word} (${showControls(assigneeId)})`;
}
