import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { MarkdownDocument } from './document.ts';

/** A target inside the repository: a file, perhaps with a heading in it. */
export interface LocalTarget {
  /** Relative to the repository. A folder is its README.md. */
  readonly path: string;
  readonly anchor: string;
}

/** Where a link of a document leads in the repository; undefined if it leads elsewhere. */
export function localTarget(from: string, href: string, root: string): LocalTarget | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined;
  const [, file = '', anchor = ''] = /^([^#]*)#?(.*)$/s.exec(href) ?? [];
  const path = file === '' ? from : posix.join(posix.dirname(from), decode(file));
  const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();
  return { path: isFolder ? posix.join(path, 'README.md') : path, anchor: decode(anchor) };
}

/** Links, images and anchors that lead nowhere, and what else would be wrong on a page. */
export function findDeadLinks(documents: readonly MarkdownDocument[], root: string): string[] {
  const anchors = new Map(
    documents.map(({ path, headings }) => [path, new Set(headings.map(({ slug }) => slug))] as const),
  );
  return documents.flatMap(({ path, targets, unresolved, html }) => [
    ...targets.flatMap((href) => {
      const problem = problemOf(href, localTarget(path, href, root));
      return problem === undefined ? [] : [`${path}: ${href} ${problem}`];
    }),
    ...unresolved.map((text) => `${path}: ${text} names a link that is not defined`),
    ...html.map((text) => `${path}: ${text} is HTML: write Markdown`),
  ]);

  function problemOf(href: string, target: LocalTarget | undefined): string | undefined {
    if (!target) return /^(https?|mailto):/.test(href) ? undefined : 'has a scheme that no page may use';
    if (target.path.startsWith('../')) return 'leads out of the repository';
    if (!anchors.has(target.path) && !existsSync(join(root, target.path))) return 'leads to a file that does not exist';
    if (target.anchor === '') return undefined;
    return anchors.get(target.path)?.has(target.anchor) ? undefined : 'leads to a heading that does not exist';
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
