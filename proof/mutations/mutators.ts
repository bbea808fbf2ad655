/** A node of the syntax tree, as far as mutators look at it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Where a node stands. */
export interface Place {
  readonly parent: Node | undefined;
  /** Under which name the parent has it. */
  readonly key: string;
  /** Whether it runs when the module is loaded, not when a function is called. */
  readonly isStatic: boolean;
  /** Whether it is part of an error's message: no test needs its words. */
  readonly isMessage: boolean;
  readonly text: (node: Node) => string;
}

/** What can stand in place of an expression: each is one mutant. */
export function mutateExpression(node: Node, place: Place): string[] {
  const mutated = [...mutateCondition(node, place), ...(MUTATORS[node.type]?.(node, place) ?? [])];
  return [...new Set(mutated)].filter((text) => text !== place.text(node));
}

/** Whether a statement can be left out: calls, assignments, throws. */
export function isRemovable(node: Node): boolean {
  if (node.type === 'ThrowStatement') return true;
  if (node.type !== 'ExpressionStatement' || typeof node['directive'] === 'string') return false;
  const expression = node['expression'] as Node;
  return (expression['callee'] as Node | undefined)?.type !== 'Super';
}

const MUTATORS: Readonly<Record<string, (node: Node, place: Place) => string[]>> = {
  BinaryExpression: mutateBinary,
  LogicalExpression: (node, { text }) => [text(node['left'] as Node), text(node['right'] as Node)],
  UnaryExpression: mutateUnary,
  UpdateExpression: mutateUpdate,
  AssignmentExpression: mutateAssignment,
  ChainExpression: mutateChain,
  CallExpression: mutateCall,
  ArrayExpression: (node, { isStatic }) => (isStatic || (node['elements'] as Node[]).length === 0 ? [] : ['[]']),
  Literal: mutateLiteral,
};

/** Conditions become true and false. */
function mutateCondition(node: Node, place: Place): string[] {
  if (place.key === 'test') return isLoop(place.parent) ? ['false'] : ['true', 'false'];
  const isReturned =
    (place.parent?.type === 'ReturnStatement' && place.key === 'argument') ||
    (place.parent?.type === 'ArrowFunctionExpression' && place.key === 'body');
  return isReturned && isBoolean(node, place) ? ['true', 'false'] : [];
}

function isLoop(node: Node | undefined): boolean {
  return node !== undefined && ['WhileStatement', 'DoWhileStatement', 'ForStatement'].includes(node.type);
}

const QUESTIONS = /^(?:has|includes|some|every|startsWith|endsWith|test|isArray)$/;

function isBoolean(node: Node, { text }: Place): boolean {
  if (node.type === 'UnaryExpression') return node['operator'] === '!';
  if (node.type === 'BinaryExpression') return (node['operator'] as string) in COMPARISONS;
  return node.type === 'CallExpression' && QUESTIONS.test(methodOf(node, text) ?? '');
}

/** The comparison that differs at the boundary, and the one that says the opposite. */
const COMPARISONS: Readonly<Record<string, readonly [boundary: string | undefined, opposite: string]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': [undefined, '!=='],
  '!==': [undefined, '==='],
  '==': [undefined, '!='],
  '!=': [undefined, '=='],
};

const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' };

function mutateBinary(node: Node, { text, parent, key }: Place): string[] {
  const [left, right] = [node['left'] as Node, node['right'] as Node];
  const operator = node['operator'] as string;
  const compared = COMPARISONS[operator];
  if (compared) {
    // A condition is also replaced by true and by false, and a part of one is left out: tests that notice these notice the opposite.
    const [boundary, opposite] = compared;
    const isCovered = key === 'test' || parent?.type === 'LogicalExpression';
    const operators = [boundary, isCovered ? undefined : opposite];
    return operators.flatMap((one) => (one === undefined ? [] : [`${text(left)} ${one} ${text(right)}`]));
  }
  const other = ARITHMETIC[operator];
  const isText = [left, right].some((side) => side.type === 'TemplateLiteral' || typeof side['value'] === 'string');
  return other === undefined || isText ? [] : [`${text(left)} ${other} ${text(right)}`];
}

function mutateUnary(node: Node, { text, key }: Place): string[] {
  const argument = node['argument'] as Node;
  if (node['operator'] === '!' && key !== 'test') return [text(argument)];
  return node['operator'] === '-' ? [text(argument)] : [];
}

function mutateUpdate(node: Node, { text, parent }: Place): string[] {
  // As a statement it is left out.
  if (parent?.type === 'ExpressionStatement') return [];
  return [text(node).replace(/\+\+|--/, (found) => (found === '++' ? '--' : '++'))];
}

function mutateAssignment(node: Node, { text }: Place): string[] {
  const [left, right] = [text(node['left'] as Node), text(node['right'] as Node)];
  switch (node['operator']) {
    case '+=':
      return (node['right'] as Node).type === 'TemplateLiteral' ? [] : [`${left} -= ${right}`];
    case '-=':
      return [`${left} += ${right}`];
    case '??=':
    case '||=':
      return [`${left} = ${right}`];
    default:
      return [];
  }
}

/** `a?.b?.c` without one of its question marks. */
function mutateChain(node: Node, { text }: Place): string[] {
  const whole = text(node);
  return optionalLinks(node['expression'] as Node).flatMap((link) => {
    const object = (link['object'] ?? link['callee']) as Node;
    const after = object.end - node.start;
    const at = whole.indexOf('?.', after);
    if (at === -1) return [];
    const rest = whole.slice(at + 2);
    return [`${whole.slice(0, at)}${/^[[(]/.test(rest) ? '' : '.'}${rest}`];
  });
}

function optionalLinks(node: Node | undefined): Node[] {
  if (node?.type !== 'MemberExpression' && node?.type !== 'CallExpression') return [];
  const inner = optionalLinks((node['object'] ?? node['callee']) as Node | undefined);
  return node['optional'] === true ? [...inner, node] : inner;
}

const SWAPPED: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** Of numbers alone: schemas have methods with these names. */
const EXTREMES: ReadonlyMap<string, string> = new Map([
  ['min', 'max'],
  ['max', 'min'],
]);
const DROPPED = ['filter', 'trim', 'toSorted', 'toReversed', 'slice'];

function methodOf(node: Node, text: Place['text']): string | undefined {
  const callee = node['callee'] as Node;
  return callee.type === 'MemberExpression' && callee['computed'] === false
    ? text(callee['property'] as Node)
    : undefined;
}

/** A call of the method that does the opposite, or no call. */
function mutateCall(node: Node, { text, parent }: Place): string[] {
  const callee = node['callee'] as Node;
  const method = methodOf(node, text);
  // Inside `a?.b.c()` the object alone is no expression.
  if (method === undefined || parent?.type === 'ChainExpression' || optionalLinks(callee).length > 0) return [];
  const object = text(callee['object'] as Node);
  if (DROPPED.includes(method) && object !== 'Buffer') return [object];
  const other = object === 'Math' ? EXTREMES.get(method) : SWAPPED.get(method);
  if (other === undefined) return [];
  const rest = text(node).slice(callee.end - node.start);
  return [`${object}.${other}${rest}`];
}

/** Of encodings and locales the default is the same for most texts. */
const NAMES = ['utf8', 'latin1', 'en-US'];

function mutateLiteral(node: Node, { parent, key, isStatic, isMessage }: Place): string[] {
  const { value } = node as { value?: unknown };
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value !== 'string' || value === '' || isStatic || isMessage || NAMES.includes(value)) return [];
  // Names: keys, what is compared (the comparison is mutated itself), modules.
  const isName = key === 'key' || key === 'property' || key === 'source' || parent?.type === 'SwitchCase';
  return isName || parent?.type === 'BinaryExpression' ? [] : [`''`];
}
