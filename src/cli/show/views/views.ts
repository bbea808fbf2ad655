import type { OperationName, ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';

/** How people see the result of each operation. One without a view is shown field by field. `input` is its input. */
export type Views = {
  readonly [N in OperationName]?: (
    result: ResultOf<N>,
    screen: Screen,
    input: Readonly<Record<string, unknown>>,
  ) => string;
};
