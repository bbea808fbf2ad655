/** For those who know the house through this room alone. */
export { workedOn } from '../core/work-time.ts';
