import { CircleCheck, Download, Save } from 'lucide-react';
import { useEffect, useState } from 'react';
import { call } from '../data/daemon.ts';
import { useAct } from '../parts/act.ts';
import { FailureNote } from '../parts/failure.tsx';

/** The same team as a file, for the next time: `troupe up` in its folder starts it. */
export function KeepFile({ source, folder }: { source: string; folder: string }) {
  const { isBusy, failure, run } = useAct();
  const [saved, setSaved] = useState<string>();
  // What was saved is not what the form says now.
  useEffect(() => setSaved(undefined), [source, folder]);
  const isThere = failure?.code === 'exists';
  const save = (): void =>
    void run(async () => setSaved((await call('team.save', { source, folder, replace: isThere })).path));
  const download = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([source], { type: 'text/yaml' }));
    link.download = 'troupe.yaml';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <details className="start-file">
      <summary>This team as a file</summary>
      <pre className="code">{source}</pre>
      <FailureNote failure={failure} />
      {saved !== undefined && (
        <p className="start-line" role="status">
          <span className="status is-completed">
            <CircleCheck size={15} aria-hidden />
          </span>
          <span className="text">
            Saved as <bdi className="mono">{saved}</bdi>. Next time: <code className="mono">troupe up</code> in that
            folder.
          </span>
        </p>
      )}
      <div className="row">
        <button type="button" className={`button small${isThere ? ' danger' : ''}`} disabled={isBusy} onClick={save}>
          <Save size={14} aria-hidden /> {isThere ? 'Replace troupe.yaml there' : 'Save in the folder'}
        </button>
        <button type="button" className="button small" onClick={download}>
          <Download size={14} aria-hidden /> Download
        </button>
      </div>
    </details>
  );
}
