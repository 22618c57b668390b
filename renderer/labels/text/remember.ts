/** Remembers what was computed of texts. */

/** Results are forgotten together, which is faster than to remember which are in use. */
const maxTexts = 4_000;

/** Returns the function with its results remembered. It is pure, and returns no undefined. */
export function rememberByText<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= maxTexts) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
