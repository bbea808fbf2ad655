import { createHash } from 'node:crypto';
import type { Encoding, Page } from './pages.ts';

/** What a browser says about the form in which it wants a page. */
interface Wishes {
  /** `Accept-Encoding`. */
  readonly encodings: string | undefined;
  /** `If-None-Match`. */
  readonly known: string | undefined;
}

/** The answer to a request for a page, without the headers of every answer. */
type PageAnswer = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly status: 200 | 404; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly status: 304; readonly body?: undefined }
);

/** Answers with the smallest form that the browser accepts, or says that its copy is the present one. */
export function answerPage(page: Page, { encodings, known }: Wishes): PageAnswer {
  const encoding = chooseEncoding(page, encodings);
  const body = (encoding && page.compressed?.[encoding]) ?? page.body;
  const tag = tagOf(body);
  const about = { vary: 'accept-encoding', etag: tag };
  if (!page.isAbsent && isKnown(tag, known)) return { status: 304, headers: about };
  const headers = {
    ...about,
    'content-type': page.type,
    'content-length': String(body.byteLength),
    ...(encoding && { 'content-encoding': encoding }),
  };
  return { status: page.isAbsent ? 404 : 200, headers, body };
}

/** The form with the highest weight; of several, the smallest. Without a wish, the plain file. */
function chooseEncoding({ compressed = {}, body }: Page, accepted: string | undefined): Encoding | undefined {
  if (accepted === undefined) return undefined;
  const weights = weightsIn(accepted);
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const forms = Object.entries(compressed).map(([name, bytes]) => ({
    name: name as Encoding | undefined,
    weight: weightOf(name),
    size: bytes.byteLength,
  }));
  // The plain file is acceptable unless it is excluded, and is the last choice unless it has a weight of its own.
  const plain = { name: undefined, weight: weights.get('identity') ?? 0.001, size: body.byteLength };
  const [best] = [...forms.filter(({ weight }) => weight > 0), plain].sort(
    (a, b) => b.weight - a.weight || a.size - b.size,
  );
  return best?.name;
}

/** `gzip, br;q=0.5` as a table. */
function weightsIn(accepted: string): Map<string, number> {
  return new Map(
    accepted.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
      const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight) || 0];
    }),
  );
}

/** `If-None-Match` compares weakly: a proxy may have marked a tag as weak. */
function isKnown(tag: string, known: string | undefined): boolean {
  if (known === undefined) return false;
  return known.trim() === '*' || known.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

/** Hashed at the first request: most daemons never serve the dashboard. */
const tags = new WeakMap<Uint8Array, string>();

/** A strong tag: each form of a file has its own. */
function tagOf(body: Uint8Array): string {
  const tag = tags.get(body) ?? `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  tags.set(body, tag);
  return tag;
}
