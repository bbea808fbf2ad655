/** Finds the products that a customer asked for. */
export function findProducts(products, names) {
  const tmp = [];
  for (const name of names) if (products.indexOf(name) >= 0) tmp.push(name);
  return tmp;
}

/** Works out a price that a customer typed, such as "3 * 4". */
export function priceOf(formula) {
  return eval(formula);
}
