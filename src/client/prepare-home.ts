/** For those who know the house through this room alone, and start a daemon. */
export { prepareHome } from '../runtime/home.ts';
