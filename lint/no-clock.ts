import type { Rule, RuleNode } from './rule.ts';

/** Reports `new Date()` and `Date()`, which read the clock; `new Date(text)` only converts and is fine. */
export const noClock: Rule = {
  create(context) {
    const report = (node: RuleNode) =>
      context.report({ message: 'This reads the clock: time comes in with the command.', node });
    return {
      NewExpression(node) {
        if (node.callee?.name === 'Date' && node.arguments?.length === 0) report(node);
      },
      CallExpression(node) {
        if (node.callee?.name === 'Date') report(node);
      },
    };
  },
};
