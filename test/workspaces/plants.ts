import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commitAll, plainEnvironment, write } from './project.ts';

/** What a row of the table works with. */
export interface Garden {
  /** A folder that an agent may fill. */
  readonly folder: string;
  /** A program that leaves a mark, and one that also passes its input on. */
  readonly mark: string;
  readonly markAndPass: string;
  /** A repository whose commit the base names as the submodule `sub`. */
  readonly submodule: string;
  /** Runs git as somebody would who does not think of it; an exit code does not matter. */
  readonly plain: (args: readonly string[], options?: { cwd?: string; env?: Record<string, string> }) => void;
}

/** Something that an agent writes, which makes git run a program. */
export interface Plant {
  readonly what: string;
  /** Writes it into the folder. */
  plant(garden: Garden): void;
  /** Plain commands that run it. */
  run(garden: Garden): void;
  /** What the daemon inherited, if that is the danger. */
  readonly inherited?: (garden: Garden) => Record<string, string>;
}

/**
 * Every way that is known, and each one runs in plain git. Files in the nested repositories keep their size: only then
 * does git have to read, and so to filter, them.
 */
export const PLANTS: readonly Plant[] = [
  {
    what: 'core.fsmonitor',
    plant: ({ folder, mark }) => configure(folder, `[core]\n\tfsmonitor = ${mark}\n`),
    run: ({ plain }) => plain(['status']),
  },
  {
    what: 'core.hooksPath',
    plant({ folder, mark }) {
      mkdirSync(join(folder, '.hooks'));
      writeFileSync(join(folder, '.hooks/pre-commit'), `#!/bin/sh\n${mark}\n`, { mode: 0o755 });
      cpSync(join(folder, '.hooks/pre-commit'), join(folder, '.hooks/post-index-change'));
      cpSync(join(folder, '.hooks/pre-commit'), join(folder, '.hooks/reference-transaction'));
      configure(folder, `[core]\n\thooksPath = ${folder}/.hooks\n`);
    },
    run: ({ plain }) => plain(['commit', '--allow-empty', '-m', 'x']),
  },
  {
    what: 'a hook in .git/hooks',
    plant({ folder, mark }) {
      mkdirSync(join(folder, '.git/hooks'), { recursive: true });
      for (const hook of ['pre-commit', 'post-index-change', 'post-checkout', 'reference-transaction']) {
        writeFileSync(join(folder, '.git/hooks', hook), `#!/bin/sh\n${mark}\n`, { mode: 0o755 });
      }
    },
    run: ({ plain }) => plain(['commit', '--allow-empty', '-m', 'x']),
  },
  {
    what: 'gpg.program',
    plant: ({ folder, mark }) => configure(folder, `[gpg]\n\tprogram = ${mark}\n[commit]\n\tgpgSign = true\n`),
    run: ({ plain }) => plain(['commit', '--allow-empty', '-m', 'x']),
  },
  {
    what: 'include.path',
    plant({ folder, mark }) {
      write(folder, { 'settings.inc': `[core]\n\tfsmonitor = ${mark}\n` });
      configure(folder, `[include]\n\tpath = ${folder}/settings.inc\n`);
    },
    run: ({ plain }) => plain(['status']),
  },
  {
    what: 'config.worktree',
    plant({ folder, mark }) {
      configure(folder, '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n');
      writeFileSync(join(folder, '.git/config.worktree'), `[core]\n\tfsmonitor = ${mark}\n`);
    },
    run: ({ plain }) => plain(['status']),
  },
  {
    what: 'diff.external',
    plant({ folder, mark }) {
      configure(folder, `[diff]\n\texternal = ${mark}\n`);
      write(folder, { 'README.md': 'changed\n' });
    },
    run: ({ plain }) => plain(['diff']),
  },
  {
    what: 'diff.X.command',
    plant({ folder, mark }) {
      configure(folder, `[diff "x"]\n\tcommand = ${mark}\n`);
      write(folder, { '.gitattributes': '* diff=x\n', 'README.md': 'changed\n' });
    },
    run: ({ plain }) => plain(['diff']),
  },
  {
    what: 'diff.X.textconv',
    plant({ folder, mark }) {
      configure(folder, `[diff "x"]\n\ttextconv = ${mark}\n`);
      write(folder, { '.gitattributes': '* diff=x\n', 'README.md': 'changed\n' });
    },
    run: ({ plain }) => plain(['diff']),
  },
  {
    what: 'filter.X.clean, named in .gitattributes',
    plant({ folder, markAndPass }) {
      configure(folder, `[filter "x"]\n\tclean = ${markAndPass}\n\tsmudge = ${markAndPass}\n`);
      write(folder, { '.gitattributes': '* filter=x\n', 'README.md': 'changed\n' });
    },
    run: ({ plain }) => plain(['add', '-A']),
  },
  {
    what: 'filter.X.process, named in .git/info/attributes',
    plant({ folder, mark }) {
      configure(folder, `[filter "x"]\n\tprocess = ${mark}\n`);
      write(folder, { '.git/info/attributes': '* filter=x\n', 'README.md': 'changed\n' });
    },
    run: ({ plain }) => plain(['add', '-A']),
  },
  {
    what: 'merge.X.driver',
    plant({ folder, mark }) {
      configure(folder, `[merge "x"]\n\tdriver = ${mark}\n`);
      write(folder, { '.gitattributes': '* merge=x\n', 'src/a.ts': 'mine\n' });
    },
    run({ plain }) {
      plain(['commit', '-qam', 'mine']);
      plain(['merge', 'origin/later']);
    },
  },
  {
    what: 'a partial clone with core.sshCommand',
    plant: ({ folder, mark }) =>
      configure(
        folder,
        `[core]\n\tsshCommand = ${mark}\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = far\n` +
          '[remote "far"]\n\turl = ssh://localhost/nothing\n\tpromisor = true\n',
      ),
    run: ({ plain }) => plain(['cat-file', '-p', '1'.repeat(40)]),
  },
  {
    what: 'a bare repository in a subfolder, as the working directory',
    plant({ folder, mark, submodule }) {
      cpSync(join(submodule, '.git'), join(folder, 'hidden'), { recursive: true });
      appendFileSync(join(folder, 'hidden', 'config'), `[core]\n\tworktree = ${folder}\n\tfsmonitor = ${mark}\n`);
    },
    run: ({ plain, folder }) => plain(['status'], { cwd: join(folder, 'hidden') }),
  },
  {
    what: 'core.fsmonitor in a submodule of the base',
    plant({ folder, mark, submodule }) {
      cpSync(submodule, join(folder, 'sub'), { recursive: true });
      configure(join(folder, 'sub'), `[core]\n\tfsmonitor = ${mark}\n`);
    },
    run({ plain }) {
      plain(['update-index', '--no-skip-worktree', 'sub']);
      plain(['status']);
    },
  },
  {
    what: 'filter.X.clean in a submodule of the base',
    plant({ folder, markAndPass, submodule }) {
      cpSync(submodule, join(folder, 'sub'), { recursive: true });
      configure(join(folder, 'sub'), `[filter "x"]\n\tclean = ${markAndPass}\n`);
      write(join(folder, 'sub'), { '.gitattributes': '* filter=x\n', 'file.txt': 'bus\n' });
    },
    run({ plain }) {
      plain(['update-index', '--no-skip-worktree', 'sub']);
      plain(['add', '-A']);
    },
  },
  {
    what: 'filter.X.clean in a repository that the agent made, saved twice',
    plant({ folder, markAndPass, submodule }) {
      cpSync(submodule, join(folder, 'nested'), { recursive: true });
      configure(join(folder, 'nested'), `[filter "x"]\n\tclean = ${markAndPass}\n`);
      write(join(folder, 'nested'), { '.gitattributes': '* filter=x\n', 'file.txt': 'bus\n' });
    },
    run({ plain, folder }) {
      // Even with a git directory and an index that the agent does not own.
      const own = join(dirname(folder), 'own.git');
      const env = { GIT_DIR: own, GIT_WORK_TREE: folder, GIT_INDEX_FILE: `${own}-index` };
      plain(['init', '-q', '--bare', own], { cwd: dirname(folder) });
      plain(['config', 'core.bare', 'false'], { env });
      plain(['add', '-A'], { env });
      plain(['add', '-A'], { env });
    },
  },
  {
    what: 'GIT_EXTERNAL_DIFF and other variables of the daemon',
    plant: ({ folder }) => write(folder, { 'README.md': 'changed\n' }),
    run: ({ plain, mark }) => plain(['diff'], { env: { GIT_EXTERNAL_DIFF: mark } }),
    inherited: ({ mark, folder }) => ({
      GIT_EXTERNAL_DIFF: mark,
      GIT_SSH_COMMAND: mark,
      GIT_DIR: join(folder, '.git'),
      GIT_WORK_TREE: folder,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: mark,
    }),
  },
];

/** Makes the programs that leave a mark, and the submodule. */
export function openGarden(
  { root, folder, program = 'git' }: { root: string; folder: string; program?: string },
  marker: string,
): Garden {
  const tools = join(root, 'tools');
  mkdirSync(tools, { recursive: true });
  const [mark, markAndPass] = [join(tools, 'mark'), join(tools, 'mark-and-pass')];
  writeFileSync(mark, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  writeFileSync(markAndPass, `#!/bin/sh\ntouch ${marker}\ncat\n`, { mode: 0o755 });
  return {
    folder,
    mark,
    markAndPass,
    submodule: join(root, 'submodule'),
    plain(args, { cwd = folder, env = {} } = {}) {
      spawnSync(program, args, { cwd, env: { ...plainEnvironment(root), ...env }, stdio: 'pipe' });
    },
  };
}

/** Makes a repository that can be a submodule; returns its commit. */
export function makeSubmodule(folder: string, git: (...args: string[]) => string): string {
  mkdirSync(folder, { recursive: true });
  git('init', '-q', '-b', 'main');
  write(folder, { 'file.txt': 'sub\n' });
  return commitAll(folder);
}

function configure(folder: string, text: string): void {
  appendFileSync(join(folder, '.git', 'config'), text);
}
