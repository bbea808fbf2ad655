import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A newer git than the machine's, from Debian's packages, with the libraries that it needs. */
export interface NewerGit {
  readonly version: string;
  readonly packages: readonly { readonly path: string; readonly sha256: string }[];
}

/** Two later versions: what must not run is tried on them as well. */
export const NEWER_GITS: readonly NewerGit[] = [
  {
    version: '2.47.3',
    packages: [
      {
        path: 'g/git/git_2.47.3-0+deb13u1_amd64.deb',
        sha256: '3e35662fd5c46add561703e54031a1d8ad9df45811927689f0a51122b13be722',
      },
      {
        path: 'g/glibc/libc6_2.41-12+deb13u4_amd64.deb',
        sha256: '967aa62605721081c3eb2a17650611a792aa802d76a6511d1840242623d204c9',
      },
      {
        path: 'p/pcre2/libpcre2-8-0_10.46-1~deb13u2_amd64.deb',
        sha256: '1252b96a5bc44bb5db982bef8eb18e54f5047cede2aff641bce4f8e1edb91c3e',
      },
      {
        path: 'z/zlib/zlib1g_1.3.dfsg+really1.3.1-1+b1_amd64.deb',
        sha256: '015be740d6236ad114582dea500c1d907f29e16d6db00566ca32fb68d71ac90d',
      },
    ],
  },
  {
    version: '2.55.0',
    packages: [
      {
        path: 'g/git/git_2.55.0-1_amd64.deb',
        sha256: '9a1ece2d830d6bbd235f237adf1ea5a5b3bb714aff79f1048a55039fea7d3e64',
      },
      {
        path: 'g/glibc/libc6_2.43-7_amd64.deb',
        sha256: '5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803',
      },
      {
        path: 'p/pcre2/libpcre2-8-0_10.49-1_amd64.deb',
        sha256: '854da48a72f55b3f6f20389b58a3e94bddd06dc02b2a9fadd006ccd0048d14ab',
      },
      {
        path: 'z/zlib/zlib1g_1.3.dfsg+really1.3.2-4_amd64.deb',
        sha256: '8506ce550a81ac14b047608e0df121037d9cbb10c3cc28446f68cf8c1d9d31ce',
      },
    ],
  },
];

const FOLDER = join(import.meta.dirname, '.gits');

/** The program of an installed version; undefined if it is not here. */
export function newerGit({ version }: NewerGit): string | undefined {
  const program = join(FOLDER, version, 'bin', 'git');
  return existsSync(program) ? program : undefined;
}

/** Downloads and unpacks what is missing, beside the system's own git. Best effort: `undefined`, or why not. */
export async function installGits(): Promise<string | undefined> {
  const missing = NEWER_GITS.filter((git) => newerGit(git) === undefined);
  if (missing.length === 0) return undefined;
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'there are packages for Linux on x64 only';
  try {
    const pool = findPool();
    for (const git of missing) await install(git, pool);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Where this machine gets Debian's packages from: apt says it, for a package that every Debian has. */
function findPool(): string {
  const said = execFileSync('apt-get', ['download', '--print-uris', 'base-files'], { encoding: 'utf8', stdio: 'pipe' });
  const [, pool] = /'(https?:\/\/[^']*\/pool\/main)\//.exec(said) ?? [];
  if (pool === undefined) throw new Error('apt-get does not say where it gets packages from');
  return pool;
}

async function install({ version, packages }: NewerGit, pool: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const draft = mkdtempSync(join(FOLDER, 'draft-'));
  try {
    for (const { path, sha256 } of packages) {
      const answer = await fetch(`${pool}/${path}`, { signal: AbortSignal.timeout(60_000) });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (!answer.ok || createHash('sha256').update(bytes).digest('hex') !== sha256) {
        throw new Error(`${pool}/${path} is not there or not the same (${answer.status})`);
      }
      writeFileSync(join(draft, 'package.deb'), bytes);
      execFileSync('dpkg-deb', ['-x', join(draft, 'package.deb'), draft], { stdio: 'pipe' });
    }
    rmSync(join(draft, 'package.deb'));
    rmSync(join(draft, 'usr', 'share'), { recursive: true });
    writeStarter(draft, join(FOLDER, version));
    renameSync(draft, join(FOLDER, version));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Its own loader and libraries: the system's may be older. Git starts itself through this, too. */
function writeStarter(draft: string, place: string): void {
  const usr = join(place, 'usr');
  const loader = `${usr}/lib64/ld-linux-x86-64.so.2 --library-path ${usr}/lib/x86_64-linux-gnu`;
  const script = `#!/bin/sh\nexport GIT_EXEC_PATH=${place}/bin\nexec ${loader} ${usr}/lib/git-core/git "$@"\n`;
  mkdirSync(join(draft, 'bin'));
  writeFileSync(join(draft, 'bin', 'git'), script, { mode: 0o755 });
}
