import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

type Bytes = Uint8Array<ArrayBuffer>;

/** A file of the dashboard. */
export interface Page {
  readonly body: Bytes;
  readonly type: string;
  /** The same file as the build compressed it. */
  readonly compressed?: Readonly<Partial<Record<Encoding, Bytes>>>;
  /** The address does not exist; the page says so. */
  readonly isAbsent?: true;
}

/** The encodings of compressed files by the ending of their names, the smallest first. */
const ENCODINGS = { br: 'br', gz: 'gzip' } as const;
export type Encoding = (typeof ENCODINGS)[keyof typeof ENCODINGS];

/** The dashboard's files. They contain no data and need no credential. */
export interface Pages {
  /**
   * The file at this path. All addresses inside the dashboard lead to its one page. A followed link that leads nowhere
   * also gets this page, which shows the way back.
   */
  find(path: string, isLink: boolean): Page | undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
};

/** Paths that are never files. */
const TAKEN = /^\/(api|mcp|ws|health|metrics)(\/|$)/;

/** The addresses of the dashboard's views, for links and reloads. */
const VIEWS = /^\/(?:t(?:\/[A-Za-z0-9_-]+){1,3}|native\/[^/]+|queue|login)$/;

const PLACEHOLDER = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Troupe</title>
<h1>Troupe</h1>
<p>The daemon runs. The dashboard is not built: run <code>npm run build</code>, then restart the daemon.
<p>The API is described at <a href="/api/openapi.json">/api/openapi.json</a>, for requests with a token.
</html>
`;

/**
 * Reads a directory once, when a page is first asked for. Requests only look up what was read, so no path leads out of the directory.
 *
 * Not at the start: to read 322 files took a fifth of its processor time (45 of 250 ms), and many daemons show no page.
 */
export function openPages(directory: string | undefined): Pages {
  let read: ReadonlyMap<string, Page> | undefined;
  return {
    find(path, isLink) {
      if (TAKEN.test(path)) return undefined;
      const pages = (read ??= directory === undefined ? placeholder() : readAll(directory));
      const root = pages.get('/');
      const page = VIEWS.test(path) ? root : pages.get(path);
      return page ?? (isLink && root ? { ...root, isAbsent: true } : undefined);
    },
  };
}

/** The directory of the built dashboard, `dist/ui`, seen from `dist/` or from `src/`; undefined if it was not built. */
export function findBuiltPages(): string | undefined {
  const places = [join(import.meta.dirname, '../ui'), join(import.meta.dirname, '../../dist/ui')];
  return places.find((path) => existsSync(join(path, 'index.html')));
}

function readAll(directory: string): Map<string, Page> {
  const pages = new Map<string, Page>();
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = new Set(entries.flatMap((one) => (one.isFile() ? join(one.parentPath, one.name) : [])));
  const read = (file: string): Bytes => new Uint8Array(readFileSync(file));
  for (const file of files) {
    const type = TYPES[file.split('.').at(-1) ?? ''];
    if (type === undefined) continue;
    const compressed: Partial<Record<Encoding, Bytes>> = {};
    for (const [ending, encoding] of Object.entries(ENCODINGS)) {
      if (files.has(`${file}.${ending}`)) compressed[encoding] = read(`${file}.${ending}`);
    }
    const page = { body: read(file), type, compressed };
    const path = `/${relative(directory, file).split(sep).join('/')}`;
    pages.set(path, page);
    if (path === '/index.html') pages.set('/', page);
  }
  return pages;
}

function placeholder(): Map<string, Page> {
  return new Map([['/', { body: new TextEncoder().encode(PLACEHOLDER), type: 'text/html; charset=utf-8' }]]);
}
