/** For those who know the house through this room alone. */
export { hookTroubles, isTroubleKey, troublesTold } from '../core/hook-trouble.ts';
