var name = 'mail-show';
var count = 0;
export function next() {
  count += 1;
  return name + count;
}
