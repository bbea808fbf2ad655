import type { MarkdownDocument } from './document.ts';

/** The pages in the order of the menu. */
const GROUPS: readonly (readonly [name: string, paths: readonly string[]])[] = [
  ['Start', ['README.md', 'docs/guide.md', 'docs/install.md', 'examples/README.md']],
  [
    'Use it',
    [
      'docs/team-files.md',
      'docs/workspaces.md',
      'docs/agents.md',
      'docs/dashboard.md',
      'docs/export.md',
      'docs/sandbox.md',
      'docs/editors.md',
      'docs/nested-teams.md',
      'docs/claude-code-teams.md',
    ],
  ],
  ['Run it', ['docs/journal.md', 'docs/scaling.md', 'docs/platforms.md', 'docs/proof.md', 'SECURITY.md']],
  ['Build on it', ['docs/api.md', 'docs/library.md']],
  ['The project', ['ARCHITECTURE.md', 'GLOSSARY.md', 'CONTRIBUTING.md', 'bench/README.md', 'CHANGELOG.md']],
];

/** A group of the menu. */
export interface PageGroup {
  readonly name: string;
  readonly pages: readonly MarkdownDocument[];
}

/** All documents, grouped for the menu. New documents of docs/ come last in "Use it", other new ones in "Examples". */
export function groupPages(documents: readonly MarkdownDocument[]): PageGroup[] {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  const listed = new Set(GROUPS.flatMap(([, paths]) => paths));
  const others = documents.filter(({ path }) => !listed.has(path));
  const groups = GROUPS.map(([name, paths]) => ({
    name,
    pages: [
      ...paths.flatMap((path) => byPath.get(path) ?? []),
      ...(name === 'Use it' ? others.filter(({ path }) => path.startsWith('docs/')) : []),
    ],
  }));
  const rest = others.filter(({ path }) => !path.startsWith('docs/'));
  const all = [...groups.slice(0, 1), { name: 'Examples', pages: rest }, ...groups.slice(1)];
  return all.filter(({ pages }) => pages.length > 0);
}
