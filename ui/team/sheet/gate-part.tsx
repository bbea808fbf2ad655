import { CircleCheck, CircleX, ShieldCheck, TriangleAlert } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../data/daemon.ts';
import { LongText, TextReader } from '../../log/long-text.tsx';
import type { ReadText } from '../../log/long-text.tsx';
import { gapsOf } from '../../log/steps.ts';
import type { Entry } from '../../log/steps.ts';
import { failureOf } from '../../parts/act.ts';
import type { Failure } from '../../parts/act.ts';
import { showControls } from '../../parts/controls.ts';
import { Empty } from '../../parts/empty.tsx';
import { FailureNote } from '../../parts/failure.tsx';
import { showMoment, showSpan, showTime } from '../../parts/format.ts';

/** What every run of a gate said about a task, the newest first, with its whole output. */
export function GatePart({ teamId, taskId, revision }: { teamId: string; taskId: string; revision: number }) {
  const [runs, setRuns] = useState<readonly Entry[]>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    const stop = new AbortController();
    readRuns(teamId, taskId, stop.signal).then(
      (all) => {
        setRuns(all);
        setFailure(undefined);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) setFailure(failureOf(error));
      },
    );
    return () => stop.abort();
    // A verdict changes the task, so there is more to read.
  }, [teamId, taskId, revision]);
  const readText: ReadText = ({ place, path }, from) => call('gate.text', { teamId, taskId, place, path, from });
  if (runs?.length === 0) {
    return (
      <Empty icon={ShieldCheck} title="No gate judged it">
        <p className="quiet">What gates say about it appears here, with all that they print.</p>
      </Empty>
    );
  }
  return (
    <TextReader value={readText}>
      <div className="sheet-body">
        <FailureNote failure={failure} />
        {runs?.toReversed().map((run, i) => (
          <RunView key={String(run['place'])} run={{ ...run, session: taskId }} isOpen={i === 0} />
        ))}
      </div>
    </TextReader>
  );
}

async function readRuns(teamId: string, taskId: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const runs: Entry[] = [];
  for (let after = 0; ;) {
    const page = await call('gate.runs', { teamId, taskId, after }, { signal });
    runs.push(...page.entries);
    if (page.after === after || page.after >= (page.size ?? 0)) return runs;
    ({ after } = page);
  }
}

function RunView({ run, isOpen }: { run: Entry; isOpen: boolean }) {
  const text = (name: string): string => (typeof run[name] === 'string' ? run[name] : '');
  const number = (name: string): number | undefined => (typeof run[name] === 'number' ? run[name] : undefined);
  const exitCode = number('exitCode');
  const isUnable = text('unable') !== '';
  const phase = exitCode === 0 ? 'completed' : isUnable || exitCode === 1 ? 'gate' : 'failed';
  const word = exitCode === 0 ? 'Passed' : isUnable ? 'Could not run' : exitCode === 1 ? 'Failed itself' : 'Sent back';
  const Icon = exitCode === 0 ? CircleCheck : phase === 'gate' ? TriangleAlert : CircleX;
  const gaps = gapsOf(run);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen && exitCode !== 0) showFailingLine(body.current);
  }, [isOpen]);
  return (
    <details className="gate-run" open={isOpen}>
      <summary>
        <span className={`status is-${phase}`}>
          <Icon size={14} aria-hidden /> {word}
        </span>
        <span className="mono one-line">{showControls(text('command') || 'a function')}</span>
        <span className="spacer" />
        <span className="meta" title={showMoment(run.at)}>
          {showTime(run.at)} · {showSpan(number('duration') ?? 0)}
        </span>
      </summary>
      <div className="gate-output" ref={body}>
        {(['stderr', 'stdout'] as const).map(
          (name) =>
            text(name).trim() !== '' && (
              <div key={name}>
                <h4>{name === 'stderr' ? 'Errors' : 'Output'}</h4>
                <LongText text={text(name)} path={name} gaps={gaps} />
              </div>
            ),
        )}
        {text('stderr').trim() === '' && text('stdout').trim() === '' && <p className="quiet">It printed nothing.</p>}
      </div>
    </details>
  );
}

/** How most tools begin the line that says what went wrong. */
const FAILING = /^.*(?:\b(?:\w*Error|error|FAIL(?:ED|URE)?|fatal|panic|not ok)\b|[✗✘×❌]).*$/m;

/** Scrolls each output to its first line that tells of a failure. */
function showFailingLine(body: HTMLElement | null): void {
  for (const pre of body?.querySelectorAll('pre') ?? []) {
    const node = pre.firstChild;
    const found = FAILING.exec(node?.nodeValue ?? '');
    if (!node || !found) continue;
    const range = new Range();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    const { top } = range.getBoundingClientRect();
    pre.scrollTop += top - pre.getBoundingClientRect().top - 48;
    if ('highlights' in CSS) CSS.highlights.set('failing-line', new Highlight(range));
    return;
  }
}
