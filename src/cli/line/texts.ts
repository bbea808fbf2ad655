import { OPERATIONS } from '../../operations/index.ts';
import type { CommandTexts } from './command.ts';
import { commandFrom } from './from-operation.ts';

/**
 * The help texts of each operation's command. A build replaces this file with its result, because loading the
 * operations takes three times as long as printing a help text.
 */
export const TEXTS: Readonly<Record<string, CommandTexts>> = Object.fromEntries(
  OPERATIONS.map(commandFrom).map(({ command, texts }) => [command.words, texts]),
);
