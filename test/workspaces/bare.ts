import { openHandle } from '../../src/workspaces/depot/handle.ts';
import type { DepotHandle } from '../../src/workspaces/depot/handle.ts';
import { openGit } from '../../src/workspaces/git.ts';
import type { Git } from '../../src/workspaces/git.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import type { Places } from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { write } from './project.ts';

/** A file of a commit: its content, a link, a program, or nothing if it goes. */
export type Content = string | Buffer | { readonly mode: string; readonly text: string } | undefined;

/** What is told of a commit. */
export interface Told {
  readonly parents?: readonly string[];
  readonly message?: string;
  readonly email?: string;
  /** Seconds. */
  readonly at?: number;
  readonly ref?: string;
}

/** A depot of a project that has no checkout. Git starts once for it, and once for each commit. */
export interface Bare {
  readonly git: Git;
  readonly places: Places;
  readonly dir: string;
  readonly handle: DepotHandle;
  /** A commit of these files on top of its first parent's. */
  readonly commit: (files: Readonly<Record<string, Content>>, told?: Told) => Promise<string>;
}

export async function openBare({
  format = 'sha1',
  program,
}: { format?: 'sha1' | 'sha256'; program?: string } = {}): Promise<Bare> {
  const root = temporaryFolder();
  const places = await openPlaces(root, { endLeftovers: async () => {} });
  const dir = `${places.depots}/0123456789abcdef.git`;
  write(dir, { 'no-tree/x': '' });
  const environment = { PATH: process.env['PATH'] };
  const git = openGit({ environment, ...(program !== undefined && { program }) });
  await git.init(dir, format);
  const handle = openHandle(git, dir);
  return {
    git,
    places,
    dir,
    handle,
    commit: async (files, { parents = [], message = 'm', email = 'ada@example.com', at = 1_700_000_000, ref } = {}) => {
      const [from, ...merged] = parents;
      const parts = [
        `commit ${ref ?? 'refs/test/commit'}\nmark :1\nauthor Ada <${email}> ${at} +0000\ncommitter Ada <${email}> ${at} +0000\n`,
        `data ${Buffer.byteLength(message)}\n${message}\n`,
        from === undefined ? '' : `from ${from}\n`,
        ...merged.map((parent) => `merge ${parent}\n`),
        ...Object.entries(files).flatMap(([path, content]) => {
          const name = JSON.stringify(path);
          if (content === undefined) return `D ${name}\n`;
          const { mode, text } =
            typeof content === 'string' || Buffer.isBuffer(content) ? { mode: '100644', text: content } : content;
          return [`M ${mode} inline ${name}\ndata ${Buffer.byteLength(text)}\n`, text, '\n'];
        }),
        '\nget-mark :1\n',
        // A ref of its own each time, so that nothing has to be before.
        ref === undefined ? `reset refs/test/commit\nfrom ${'0'.repeat(format === 'sha1' ? 40 : 64)}\n` : '',
        'done\n',
      ];
      const input = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
      const { out } = await handle.run(['fast-import', '--quiet', '--force', '--done', '--date-format=raw'], { input });
      return out.toString().trim();
    },
  };
}
