import {
  ChevronRight,
  CircleCheck,
  CircleSlash,
  CircleX,
  Info,
  KeyRound,
  ListChecks,
  Mail,
  Undo2,
  Wrench,
} from 'lucide-react';
import { useMemo } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { teamPath } from '../data/route.ts';
import { showControls } from '../parts/controls.ts';
import { plural, showClock, showMoment } from '../parts/format.ts';
import { Link } from '../parts/link.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { EditCounts, EditView } from './edit-view.tsx';
import { editsOf } from './edits.ts';
import { LongText } from './long-text.tsx';
import type { Step } from './steps.ts';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

/** Whether the hidden part of a step is open; the list remembers it, since steps leave the page when it scrolls. */
export interface Fold {
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** One step of a log. */
export function StepView({ teamId, step, fold }: { teamId: string; step: Step; fold: Fold }) {
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
      return <TurnView teamId={teamId} step={step} fold={fold} />;
    case 'text':
      return (
        <div className="step said">
          <Clock at={step.at} />
          {step.gaps ? <LongText text={step.text} path="text" gaps={step.gaps} /> : <Markdown text={step.text} />}
        </div>
      );
    case 'tool':
      return <ToolView step={step} fold={fold} />;
    case 'permission':
      return (
        <div className="step asked">
          <Clock at={step.at} />
          <span className="status is-gate">
            <KeyRound size={14} aria-hidden /> {step.tool}
          </span>
          <LongText text={step.text} path="description" gaps={step.gaps} />
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
          <LongText text={step.text} path="feedback" gaps={step.gaps} />
        </div>
      );
    case 'note':
      return (
        <div className="step">
          <Clock at={step.at} />
          <span className="status is-gate">
            <Info size={14} aria-hidden /> {step.text}
          </span>
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

/** What of a step is shown on demand. */
function Folded({
  fold: { isOpen, onToggle },
  className,
  summaryClass,
  summary,
  children,
}: {
  fold: Fold;
  className?: string;
  summaryClass?: string;
  summary: ReactNode;
  children: () => ReactNode;
}) {
  // The click itself is what opens it. The browser tells of its own opening later, when the step may have left the page.
  const onClick = (event: MouseEvent): void => {
    event.preventDefault();
    onToggle(!isOpen);
  };
  return (
    <details className={className} open={isOpen}>
      <summary className={summaryClass} onClick={onClick}>
        {summary}
      </summary>
      {isOpen && children()}
    </details>
  );
}

/** What the member was told. A task's text is long and known, so it is folded. */
function TurnView({ teamId, step, fold }: { teamId: string; step: StepOf<'turn'>; fold: Fold }) {
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
        <Folded
          fold={fold}
          summaryClass="one-line"
          summary={showControls(step.text.trim().split('\n', 1)[0]?.slice(0, 300) ?? '')}
        >
          {() => <LongText text={step.text} path="text" gaps={step.gaps} />}
        </Folded>
      </div>
    </div>
  );
}

function ToolView({ step, fold }: { step: StepOf<'tool'>; fold: Fold }) {
  const phase = step.status === 'failed' ? 'failed' : step.status === 'running' ? 'in_progress' : 'pending';
  const edits = useMemo(() => editsOf(step.name, step.input), [step.name, step.input]);
  return (
    <div className="step tool">
      <Clock at={step.at} />
      <Folded
        fold={fold}
        className={`tool-body is-${phase}`}
        summary={
          <>
            <ChevronRight className="chevron" size={14} aria-hidden />
            <Wrench size={13} aria-hidden />
            <b className="one-line">{showControls(step.name)}</b>
            <span className="one-line mono quiet">
              {showControls(edits ? edits.map(({ path }) => path).join(', ') : brief(step.input))}
            </span>
            <span className="spacer" />
            {edits && <EditCounts edits={edits} />}
            {step.status !== 'done' && <span className={`status is-${phase}`}>{step.status}</span>}
          </>
        }
      >
        {() => <ToolBody step={step} edits={edits} />}
      </Folded>
    </div>
  );
}

function ToolBody({ step, edits }: { step: StepOf<'tool'>; edits: ReturnType<typeof editsOf> }) {
  const { input, output, gaps } = step;
  // Without one of its parts, a change would be a wrong difference. Then its parts are shown.
  const inside = gaps?.filter(({ path }) => path.startsWith('input.')) ?? [];
  return (
    <>
      {edits && inside.length === 0 ? (
        <EditView edits={edits} />
      ) : (
        input !== undefined &&
        (inside.length > 0 ? (
          <InputFields input={input} gaps={inside} />
        ) : (
          <LongText text={asText(input)} path="input" gaps={gaps} />
        ))
      )}
      {output !== undefined && output !== '' && <LongText text={output} path="output" gaps={gaps} />}
    </>
  );
}

/** An input with long texts, field by field. */
function InputFields({ input, gaps }: { input: unknown; gaps: NonNullable<Step['gaps']> }) {
  const short = { ...(input as Record<string, unknown>) };
  const long = gaps.flatMap((gap) => {
    const [name = '', ...rest] = gap.path.split('.').slice(1);
    const value = short[name];
    if (rest.length > 0 || typeof value !== 'string') return [];
    delete short[name];
    return [{ name, value, path: gap.path }];
  });
  return (
    <>
      <pre className="code">{showControls(asText(short))}</pre>
      {long.map(({ name, value, path }) => (
        <div key={path} className="long-field">
          <h4>{name}</h4>
          <LongText text={value} path={path} gaps={gaps} />
        </div>
      ))}
    </>
  );
}

function EndView({ step }: { step: StepOf<'end'> }) {
  const Icon = step.reason === 'done' ? CircleCheck : step.reason === 'failed' ? CircleX : CircleSlash;
  const phase = step.reason === 'done' ? 'completed' : step.reason === 'failed' ? 'failed' : 'gate';
  return (
    <div className={`step end is-${phase}`}>
      <Clock at={step.at} />
      <div className="end-body">
        <span className={`status is-${phase}`}>
          <Icon size={14} aria-hidden /> Turn {step.reason}
        </span>
        {step.error !== '' && <LongText text={step.error} path="error" gaps={step.gaps} />}
        {step.text.trim() !== '' &&
          (step.gaps ? <LongText text={step.text} path="text" gaps={step.gaps} /> : <Markdown text={step.text} />)}
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
