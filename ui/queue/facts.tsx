import { showControls } from '../parts/controls.ts';
import type { RequestShown } from './answer.ts';

/** What is asked besides its text: the file of a plan; of a permission its folder, and all that the agent's call says. */
export function Facts({ request }: { request: RequestShown & { readonly filePath?: string | undefined } }) {
  const facts = factsOf(request);
  if (facts.length === 0) return null;
  return (
    <dl className="request-facts">
      {facts.map(({ name, text }) => (
        <div key={name}>
          <dt>{showControls(name)}</dt>
          <dd>
            {text.includes('\n') ? <pre className="code">{showControls(text)}</pre> : <code>{showControls(text)}</code>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface Fact {
  readonly name: string;
  readonly text: string;
}

/** Numbers of Troupe for programs: the text of the request says them. */
const FOR_PROGRAMS = new Set(['epoch', 'of', 'what', 'used', 'limit', 'grants', 'result', 'tool', 'input']);

function factsOf({
  content,
  filePath,
  detail = {},
  kind,
}: RequestShown & { readonly filePath?: string | undefined }): Fact[] {
  const { input, folder, ...rest } = detail;
  const entries: [string, unknown][] = [
    ['File', filePath],
    ['Folder', folder],
    ...(kind === 'permission' ? partsOf(input) : []),
    ...Object.entries(rest).filter(([name]) => !FOR_PROGRAMS.has(name)),
    ...(kind === 'gate' ? [['Result', rest['result']] satisfies [string, unknown]] : []),
  ];
  const lines = new Set(content.split('\n').flatMap((line) => [line, line.replace(/^[^:]*: /, '')]));
  return entries
    .map(([name, value]) => ({ name, text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') }))
    .filter(({ text }) => text !== '' && !lines.has(text) && !(text.includes('\n') && content.includes(text)));
}

/** The parts of a call's input; as it is, if it was too long to be kept whole: then the text of the request has it. */
function partsOf(input: unknown): [string, unknown][] {
  if (typeof input !== 'string') return input === undefined ? [] : [['input', input]];
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? Object.entries(value) : [['input', value]];
  } catch {
    return [];
  }
}
