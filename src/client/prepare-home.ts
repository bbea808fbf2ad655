/** For those who know the house through this room alone, and start a daemon. */
export { checkSocketPath, prepareHome } from '../runtime/home.ts';
