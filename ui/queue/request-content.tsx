import { showControls } from '../parts/controls.ts';
import { Markdown } from '../parts/markdown.tsx';

/** What a request asks for: a command as it would run, line for line; everything else with its Markdown. */
export function RequestContent({ kind, content }: { kind: string; content: string }) {
  if (kind !== 'permission') return <Markdown text={content} />;
  return <pre className="code">{showControls(content)}</pre>;
}
