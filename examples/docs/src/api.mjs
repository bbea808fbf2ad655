/** Adds two numbers. */
export function add(a, b) {
  return a + b;
}

export function half(a) {
  return a / 2;
}

/** Multiplies two numbers. */
export function multiply(a, b) {
  return a * b;
}
