import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TeamError } from '../core/errors.ts';

/** Runs a terminal's own program without a shell; returns its trimmed output. */
export async function runProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, [...args], { env, timeout: 10_000 });
    return stdout.trim();
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new TeamError('conflict', `${file} ${args[0]} failed: ${stderr.trim() || message}`, { cause: error });
  }
}
