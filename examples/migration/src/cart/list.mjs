var name = 'cart-list';
var count = 0;
export function next() {
  count += 1;
  return name + count;
}
