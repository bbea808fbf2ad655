import { useVirtualizer } from '@tanstack/react-virtual';
import {
  ArrowDown,
  ChevronRight,
  CircleCheck,
  CircleSlash,
  CircleX,
  KeyRound,
  ListChecks,
  Mail,
  ScrollText,
  Undo2,
  Wrench,
} from 'lucide-react';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { teamPath } from '../data/route.ts';
import { showControls } from '../parts/controls.ts';
import { FailureNote } from '../parts/failure.tsx';
import { plural, showClock, showMoment } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { toSteps } from './steps.ts';
import type { Step } from './steps.ts';
import { useTranscript } from './use-transcript.ts';

const NEAR_END = 60;

/** What a member does and is told, live. The end stays in view until the person scrolls up. */
export function Transcript({
  teamId,
  memberId,
  isPerson,
  isOver,
}: {
  teamId: string;
  memberId: string;
  isPerson: boolean;
  /** Whether the member has stopped, so that nothing more comes. */
  isOver: boolean;
}) {
  const { entries, isLoaded, failure } = useTranscript(teamId, memberId);
  const steps = useMemo(() => toSteps(entries), [entries]);
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (i) => i,
  });
  const toEnd = (): void => {
    if (steps.length > 0) virtual.scrollToIndex(steps.length - 1, { align: 'end' });
  };
  useLayoutEffect(() => {
    if (!isFollowing) return undefined;
    toEnd();
    // Once more after the new rows were measured.
    const frame = requestAnimationFrame(toEnd);
    return () => cancelAnimationFrame(frame);
  }, [steps, isFollowing]);
  if (isLoaded && steps.length === 0) {
    return (
      <div className="empty">
        <ScrollText size={32} aria-hidden />
        <h2>{isPerson ? 'A person' : isOver ? 'Nothing' : 'Nothing yet'}</h2>
        <p className="quiet">
          {isPerson
            ? `No agent works for ${memberId}, so there is no transcript.`
            : isOver
              ? `${memberId} is stopped, and no transcript of it is kept here.`
              : `The transcript of ${memberId} appears here as it happens.`}
        </p>
        <FailureNote failure={failure} />
      </div>
    );
  }
  return (
    <div className="transcript">
      <div
        className="transcript-scroll"
        ref={box}
        tabIndex={0}
        role="log"
        aria-label={`Transcript of ${memberId}`}
        aria-live="off"
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_END)
        }
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="step-place"
              style={{ transform: `translateY(${start}px)` }}
            >
              <StepView teamId={teamId} step={steps[index] as Step} />
            </div>
          ))}
        </div>
      </div>
      <FailureNote failure={failure} />
      {!isFollowing && (
        <button type="button" className="button to-end" onClick={() => setFollowing(true)}>
          <ArrowDown size={15} aria-hidden /> To the end
        </button>
      )}
    </div>
  );
}

function StepView({ teamId, step }: { teamId: string; step: Step }) {
  switch (step.kind) {
    case 'session':
      return (
        <div className="step session">
          <span>
            Session <span className="mono">{step.sessionId}</span>
            {step.agent && <> · {step.agent}</>} · {showMoment(step.at)}
          </span>
        </div>
      );
    case 'turn':
      return <TurnView teamId={teamId} step={step} />;
    case 'text':
      return (
        <div className="step said">
          <Clock at={step.at} />
          <Markdown text={step.text} />
        </div>
      );
    case 'tool':
      return <ToolView step={step} />;
    case 'permission':
      return (
        <div className="step asked">
          <Clock at={step.at} />
          <span className="status is-gate">
            <KeyRound size={14} aria-hidden /> {step.tool}
          </span>
          <pre className="code">{showControls(step.text)}</pre>
        </div>
      );
    case 'rejected':
      return (
        <div className="step asked">
          <Clock at={step.at} />
          <span className="status is-gate">
            <Undo2 size={14} aria-hidden /> <Link href={teamPath(teamId, `/task/${step.taskId}`)}>#{step.taskId}</Link>{' '}
            was sent back
          </span>
          <pre className="code">{showControls(step.text)}</pre>
        </div>
      );
    case 'end':
      return <EndView step={step} />;
  }
}

function Clock({ at }: { at: number }) {
  return (
    <time className="clock" dateTime={new Date(at).toISOString()} title={showMoment(at)}>
      {showClock(at)}
    </time>
  );
}

/** What the member was told. A task's text is long and known, so it is folded. */
function TurnView({ teamId, step }: { teamId: string; step: Extract<Step, { kind: 'turn' }> }) {
  return (
    <div className="step told">
      <Clock at={step.at} />
      <div className="told-body">
        <div className="row">
          {step.taskId !== undefined && (
            <Link className="told-task" href={teamPath(teamId, `/task/${step.taskId}`)}>
              <ListChecks size={14} aria-hidden /> #{step.taskId}
            </Link>
          )}
          {step.messages > 0 && (
            <span className="row">
              <Mail size={14} aria-hidden /> {plural(step.messages, 'message')}
            </span>
          )}
          {step.taskId === undefined && step.messages === 0 && <span>Told</span>}
        </div>
        <details>
          <summary className="one-line">{showControls(step.text.trim().split('\n', 1)[0] ?? '')}</summary>
          <pre className="code">{showControls(step.text)}</pre>
        </details>
      </div>
    </div>
  );
}

function ToolView({ step }: { step: Extract<Step, { kind: 'tool' }> }) {
  const phase = step.status === 'failed' ? 'failed' : step.status === 'running' ? 'in_progress' : 'pending';
  return (
    <div className="step tool">
      <Clock at={step.at} />
      <details className={`tool-body is-${phase}`}>
        <summary>
          <ChevronRight className="chevron" size={14} aria-hidden />
          <Wrench size={13} aria-hidden />
          <b className="one-line">{showControls(step.name)}</b>
          <span className="one-line mono quiet">{showControls(brief(step.input))}</span>
          <span className="spacer" />
          {step.status !== 'done' && <span className={`status is-${phase}`}>{step.status}</span>}
        </summary>
        {step.input !== undefined && <pre className="code">{showControls(asText(step.input))}</pre>}
        {step.output !== undefined && <pre className="code">{showControls(step.output)}</pre>}
      </details>
    </div>
  );
}

function EndView({ step }: { step: Extract<Step, { kind: 'end' }> }) {
  const icon =
    step.reason === 'done' ? (
      <CircleCheck size={14} aria-hidden />
    ) : step.reason === 'failed' ? (
      <CircleX size={14} aria-hidden />
    ) : (
      <CircleSlash size={14} aria-hidden />
    );
  const phase = step.reason === 'done' ? 'completed' : step.reason === 'failed' ? 'failed' : 'gate';
  return (
    <div className={`step end is-${phase}`}>
      <Clock at={step.at} />
      <div className="end-body">
        <span className={`status is-${phase}`}>
          {icon} Turn {step.reason}
        </span>
        {step.error !== '' && <pre className="code">{showControls(step.error)}</pre>}
        {step.text.trim() !== '' && <Markdown text={step.text} />}
      </div>
    </div>
  );
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The first input of a tool, in one line. */
function brief(input: unknown): string {
  if (typeof input === 'string') return input.slice(0, 160);
  if (typeof input !== 'object' || input === null) return '';
  const first: unknown = Object.values(input)[0];
  return (typeof first === 'string' ? first : JSON.stringify(first ?? '')).slice(0, 160);
}
