import {
  Circle,
  CircleCheck,
  CircleDashed,
  CircleX,
  CirclePause,
  CirclePower,
  GitPullRequestArrow,
  ShieldQuestion,
  UserRound,
} from 'lucide-react';
import type { TeammateStatus } from '../../src/core/member.ts';
import type { TaskPhase } from '../data/task-view.ts';
import { useNow } from './format.ts';

const IS_CALM = matchMedia('(prefers-reduced-motion: reduce)');

export const PHASE_WORDS: Readonly<Record<TaskPhase, string>> = {
  pending: 'Pending',
  blocked: 'Blocked',
  in_progress: 'In progress',
  gate: 'At the gate',
  completed: 'Completed',
  failed: 'Failed',
};

/** The icon of a phase. A phase has its own icon, word, border and colour, never only a colour. */
export function PhaseIcon({ phase, size = 14 }: { phase: TaskPhase; size?: number }) {
  const given = { size, strokeWidth: 2, 'aria-hidden': true } as const;
  switch (phase) {
    case 'pending':
      return <Circle {...given} />;
    case 'blocked':
      return <CircleDashed {...given} />;
    case 'in_progress':
      return <WorkingRing size={size} />;
    case 'gate':
      return <ShieldQuestion {...given} />;
    case 'completed':
      return <CircleCheck {...given} />;
    case 'failed':
      return <CircleX {...given} />;
  }
}

/** A third of the distance between two dashes. */
const TICK_DEGREES = 12;

/**
 * Moves one tick each second, together with the times beside it. With a CSS animation, every ring is its own layer,
 * drawn 60 times a second while the page is open: with 50 rings a frame took 30 ms longer.
 */
function WorkingRing({ size }: { size: number }) {
  const angle = (Math.floor(useNow() / 1000) * TICK_DEGREES) % 360;
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={2} aria-hidden>
      <circle
        cx={12}
        cy={12}
        r={9.5}
        strokeDasharray="3.98 1.99"
        transform={IS_CALM.matches ? undefined : `rotate(${angle} 12 12)`}
      />
      <circle cx={12} cy={12} r={2.2} fill="currentColor" stroke="none" />
    </svg>
  );
}

/** A task's phase in one word. */
export function PhaseStatus({ phase, pill = false }: { phase: TaskPhase; pill?: boolean }) {
  return (
    <span className={`status is-${phase}${pill ? ' pill' : ''}`}>
      <PhaseIcon phase={phase} />
      {PHASE_WORDS[phase]}
    </span>
  );
}

const MEMBER_WORDS: Readonly<Record<TeammateStatus, readonly [string, TaskPhase]>> = {
  spawning: ['Starting', 'blocked'],
  active: ['Active', 'pending'],
  idle: ['Idle', 'pending'],
  'shutting-down': ['Shutting down', 'gate'],
  stopped: ['Stopped', 'blocked'],
};

/** What a member does, in one word: it works while it holds a task, until that waits to land. `needsHelp`: a request of it waits for a person. */
export function MemberStatus({
  status,
  isBusy,
  isLanding = false,
  needsHelp = false,
}: {
  status: TeammateStatus;
  isBusy: boolean;
  isLanding?: boolean;
  needsHelp?: boolean;
}) {
  const [word, phase] =
    isLanding && !needsHelp && status !== 'stopped'
      ? (['Waits to land', 'in_progress'] as const)
      : wordsOf(status, isBusy, needsHelp);
  return (
    <span className={`status is-${phase}`}>
      {status === 'stopped' ? (
        <CirclePower size={14} aria-hidden />
      ) : isLanding && !needsHelp ? (
        <GitPullRequestArrow size={14} aria-hidden />
      ) : status === 'idle' && !needsHelp ? (
        <CirclePause size={14} aria-hidden />
      ) : (
        <PhaseIcon phase={phase} />
      )}
      {word}
    </span>
  );
}

function wordsOf(status: TeammateStatus, isBusy: boolean, needsHelp: boolean): readonly [string, TaskPhase] {
  if (needsHelp && status !== 'stopped') return ['Waits for you', 'gate'];
  return status === 'active' && isBusy ? ['Working', 'in_progress'] : MEMBER_WORDS[status];
}

/** For a person it is only known that they are a person, not what they do. */
export function PersonStatus() {
  return (
    <span className="status is-pending">
      <UserRound size={14} aria-hidden />
      Person
    </span>
  );
}
