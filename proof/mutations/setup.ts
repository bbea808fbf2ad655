import { configureGlobal } from 'fast-check';

// A property that fails kills the mutant. Which smallest input shows it is of no interest, and takes long to find.
configureGlobal({ endOnFailure: true });
