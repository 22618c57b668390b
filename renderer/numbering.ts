/** Numbers objects, so that keys of caches can name them. */

/** Returns a function that returns the same number for the same object, and another one for each other object. */
export function createNumbering<Thing extends object>(): (thing: Thing) => number {
  const numbers = new WeakMap<Thing, number>();
  let count = 0;
  return (thing) => {
    let number = numbers.get(thing);
    if (number === undefined) {
      number = count++;
      numbers.set(thing, number);
    }
    return number;
  };
}
