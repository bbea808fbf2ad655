import { answer } from './answer.ts';
import { hasFlag } from './arguments.ts';

// Not awaited: what it loads later may import what is loaded with it, and would wait for it in turn.
void main(process.argv.slice(2));

/** Answers one command line. */
async function main(words: readonly string[]): Promise<void> {
  // Programs that run until they are ended, and then end by themselves.
  if (words[0] === 'serve' && !hasFlag(words, '--help', '-h')) {
    await (await import('./serve.ts')).runServe(words.slice(1));
  } else if (words[0] === '--teammate') {
    process.exit(await (await import('./teammate.ts')).runTeammateCommand(words));
  } else if (words[0] === '--complete') {
    process.exit(await (await import('./completion/values.ts')).printValues(words.slice(1)));
  } else if (words[0] === '--native-teammate') {
    process.exit(await (await import('./claude/teammate.ts')).runNativeTeammate(words));
  } else if (words[0] === 'mcp' && !hasFlag(words, '--help', '-h')) {
    await (await import('./mcp.ts')).runMcp(words.slice(1));
  } else {
    // All output was written synchronously: nothing to wait for, not even for the connection to close (2 ms).
    process.exit(await answer(words));
  }
}
