import { Ban, CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { ChoiceField } from '../../forms/form.tsx';
import { failureOf } from '../../parts/act.ts';
import { showControls } from '../../parts/controls.ts';
import { plural } from '../../parts/format.ts';
import { Modal } from '../../parts/modal.tsx';
import { choose, chosen } from './chosen.ts';
import { doStep, planSteps } from './plan.ts';
import type { Deed, Step } from './plan.ts';

const TITLES: Readonly<Record<Deed, string>> = {
  assign: 'Give tasks to a member',
  release: 'Take tasks from their holders',
  reopen: 'Try tasks again',
  delete: 'Delete tasks',
};

const VERBS: Readonly<Record<Deed, string>> = { assign: 'Give', release: 'Release', reopen: 'Retry', delete: 'Delete' };

/** So many steps are under way at once. */
const AT_ONCE = 4;

/** Shows what a deed will do to each chosen task, does it, and shows what became of each. */
export function BulkDialog({ deed, onClose }: { deed: Deed | undefined; onClose: () => void }) {
  return (
    <Modal title={deed ? TITLES[deed] : ''} isOpen={deed !== undefined} onClose={onClose} isWide>
      {deed && <Preview deed={deed} onClose={onClose} />}
    </Modal>
  );
}

type Outcome = { readonly failure?: string };

function Preview({ deed, onClose }: { deed: Deed; onClose: () => void }) {
  const store = useStore();
  const members = useTeam(({ view }) => view.members);
  const live = members.filter(({ status }) => status === 'active' || status === 'idle' || status === 'spawning');
  const [assigneeId, setAssignee] = useState(live[0]?.id ?? '');
  const to = assigneeId === '' ? null : assigneeId;
  // What was shown is what is done: the list does not change under a person who reads it.
  const [views] = useState(() => store.view.tasks.filter(({ id }) => chosen.get().has(id)));
  const steps = useMemo(() => planSteps(store.view.state, views, { deed, assigneeId: to }), [views, deed, to]);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>();
  const able = steps.filter(({ why }) => why === undefined);
  const refused = steps.length - able.length;
  const isDone = outcomes !== undefined && outcomes.size === able.length;
  const run = async (): Promise<void> => {
    const done = new Map<string, Outcome>();
    setOutcomes(new Map());
    const left = [...able];
    const work = async (): Promise<void> => {
      for (let step = left.shift(); step; step = left.shift()) {
        const outcome = await doStep(step, deed, to).then(
          (): Outcome => ({}),
          (error: unknown): Outcome => ({ failure: failureOf(error).message }),
        );
        done.set(step.view.id, outcome);
        setOutcomes(new Map(done));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // What failed stays chosen.
    choose(
      able.flatMap(({ view: { id } }) => (done.get(id)?.failure === undefined ? id : [])),
      false,
    );
  };
  const failed = [...(outcomes?.values() ?? [])].filter(({ failure }) => failure !== undefined).length;
  return (
    <div className="form bulk-form">
      {deed === 'assign' && outcomes === undefined && (
        <ChoiceField
          label="Member"
          value={assigneeId}
          choices={[
            ['', 'Nobody: free them'] as const,
            ...live.map(({ id, role }) => [id, `${id} (${role})`] as const),
          ]}
          onChange={setAssignee}
        />
      )}
      <p role="status">
        {outcomes === undefined
          ? `${wordAble(able.length)}${refused > 0 ? `, ${refused} ${refused === 1 ? 'is' : 'are'} refused` : ''}.`
          : isDone
            ? `${outcomes.size - failed} of ${plural(able.length, 'task')} done${failed > 0 ? `, ${failed} failed` : ''}.`
            : `${outcomes.size} of ${plural(able.length, 'task')}`}
      </p>
      <ul className="bulk-steps" tabIndex={0} aria-label="What happens to each task">
        {steps.map((step) => (
          <StepLine
            key={step.view.id}
            step={step}
            outcome={outcomes?.get(step.view.id)}
            isRunning={outcomes !== undefined}
          />
        ))}
      </ul>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {outcomes === undefined ? 'Cancel' : 'Close'}
        </button>
        {outcomes === undefined && (
          <button
            type="button"
            className={`button primary${deed === 'delete' ? ' danger' : ''}`}
            disabled={able.length === 0}
            onClick={() => void run()}
          >
            {VERBS[deed]} {plural(able.length, 'task')}
          </button>
        )}
      </div>
    </div>
  );
}

function wordAble(count: number): string {
  return count === 0 ? 'None of them can be changed so' : `${plural(count, 'task')} will change`;
}

function StepLine({ step, outcome, isRunning }: { step: Step; outcome: Outcome | undefined; isRunning: boolean }) {
  const { view, words, why } = step;
  const trouble = why ?? outcome?.failure;
  const [Icon, phase] =
    why !== undefined
      ? [Ban, 'pending']
      : outcome?.failure !== undefined
        ? [CircleX, 'failed']
        : outcome
          ? [CircleCheck, 'completed']
          : [CircleDashed, 'in_progress'];
  const state =
    why !== undefined ? 'refused' : trouble !== undefined ? 'failed' : outcome ? 'done' : isRunning ? 'waits' : 'will';
  return (
    <li className="bulk-step" data-state={state}>
      <span className={`status is-${phase}`}>
        <Icon size={15} aria-hidden />
      </span>
      <span className="mono quiet">#{view.id}</span>
      <span className="bulk-title one-line" title={showControls(view.task.title)}>
        {showControls(view.task.title)}
      </span>
      <span className="bulk-words text">{showControls(trouble ?? words)}</span>
    </li>
  );
}
