import { showControls } from '../parts/controls.ts';
import { Markdown } from '../parts/markdown.tsx';

/** The content of a request: a command exactly as it would run; everything else with its Markdown. */
export function RequestContent({ kind, content }: { kind: string; content: string }) {
  if (kind !== 'permission') return <Markdown text={content} />;
  return <pre className="code">{showControls(content)}</pre>;
}
