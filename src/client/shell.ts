/** For those who know the house through this room alone. */
export { shellQuote } from '../core/shell.ts';
