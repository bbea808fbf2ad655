import { OPERATIONS } from '../../operations/index.ts';
import type { CommandTexts } from './command.ts';
import { commandFrom } from './from-operation.ts';

/**
 * What help texts say of each operation's command. A build writes what comes out here in place of this file, because to load
 * the operations takes three times as long as to print a help text.
 */
export const TEXTS: Readonly<Record<string, CommandTexts>> = Object.fromEntries(
  OPERATIONS.map(commandFrom).map(({ command, texts }) => [command.words, texts]),
);
