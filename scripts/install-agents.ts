import { areAgentsWhole, noteAgentsWhole } from '../test/agents/installed.ts';
import { runProgram, sayInstalling } from './run-program.ts';

/**
 * Installs the programs of a folder with its own manifest, if they are missing. Returns whether they are installed. It
 * runs no install scripts, because some build, and one may download.
 */
export async function installAgents(folder: string, what: string): Promise<boolean> {
  if (areAgentsWhole(folder)) return true;
  const words = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr } = await sayInstalling(what, () => runProgram(words, { cwd: folder }));
  if (status === 0) {
    noteAgentsWhole(folder);
    return true;
  }
  const why = /npm error (?!code|errno|syscall)(.*)/.exec(stderr)?.[1] ?? (stderr.trim() || 'it took too long');
  console.warn(`The agents could not be installed (${why}): their tests are skipped. The next run tries again.`);
  return false;
}
