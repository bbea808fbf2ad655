/** For those who know the house through this room alone. */
export { isEmptySeat } from '../core/seat.ts';
