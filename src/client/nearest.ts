/** For those who know the house through this room alone. */
export { findNearest } from '../core/nearest.ts';
