/** For those who know the house through this room alone. */
export { suggestSlug } from '../core/text.ts';
