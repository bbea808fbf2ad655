import { floors } from './floors.ts';
import { noClock } from './no-clock.ts';

/** The lint rules of this repository: which room may import which, and that the core has no clock. */
const plugin = { meta: { name: 'house' }, rules: { floors, 'no-clock': noClock } };

export default plugin;
