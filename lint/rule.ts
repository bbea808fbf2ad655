/** The part of the ESLint rule interface that our rules use; oxlint runs them, and exports no types for it. */
export interface Rule {
  create(context: RuleContext): Record<string, (node: RuleNode) => void>;
}

export interface RuleContext {
  readonly filename: string;
  report(problem: { message: string; node: RuleNode }): void;
}

/** A syntax node, reduced to the fields that our rules look at. */
export interface RuleNode {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly arguments?: readonly RuleNode[];
  readonly callee?: RuleNode;
  readonly exportKind?: 'type' | 'value';
  readonly importKind?: 'type' | 'value';
  readonly source?: RuleNode | null;
  /** The texts of a template. */
  readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
  readonly specifiers?: readonly RuleNode[];
}
