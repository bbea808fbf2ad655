import { OPERATIONS } from '../../operations/index.ts';
import { commandFrom } from './from-operation.ts';

/**
 * Every operation as a command, as JSON: a command line parses the one that it needs. A build replaces this file by the result,
 * because loading the operations means loading zod: 60 ms, where `node -e 0` takes 35.
 */
export const MANIFEST: Readonly<Record<string, string>> = Object.fromEntries(
  OPERATIONS.map(commandFrom).map(({ command }) => [command.words, JSON.stringify(command)]),
);
