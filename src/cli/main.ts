import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const HELP = `Troupe: a runtime for teams of coding agents.

Usage: troupe [options]

Options:
  -v, --version  print the version
  -h, --help     print this help
`;

if (process.argv[2] === '--teammate') {
  const { runTeammateCommand } = await import('./teammate.ts');
  process.exitCode = await runTeammateCommand(process.argv.slice(2));
} else process.exitCode = main(process.argv.slice(2));

/** Answers one command line and returns the exit code. */
function main(args: readonly string[]): number {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`${options}\nRun troupe --help to see what there is.`);
    return 2;
  }
  process.stdout.write(options.version ? `${readVersion()}\n` : HELP);
  return 0;
}

/** The options that were given, or what is wrong with them. */
function readOptions(args: readonly string[]): { version?: boolean; help?: boolean } | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { version: { type: 'boolean', short: 'v' }, help: { type: 'boolean', short: 'h' } },
    });
    return values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The package's version; `src/cli` and `dist/cli` are equally far from package.json. */
function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
