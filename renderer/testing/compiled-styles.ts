/** The built-in styles, compiled once per process, as in a server: each takes 30 ms. For tests. */
import { compileStyle } from '../style/compile.js';
import { builtInStyle } from '../styles/built-in.js';
import type { BuiltInStyle } from '../styles/names.js';
import type { TileSchema } from '../types.js';

type CompiledStyle = ReturnType<typeof compileStyle>;

const compiled = new Map<string, CompiledStyle>();

/** Takes the parameters of {@link builtInStyle}. */
export function compiledStyle(name: BuiltInStyle, schema: TileSchema, isBesideStreets?: boolean): CompiledStyle {
  const key = JSON.stringify([name, schema, isBesideStreets]);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const style = compileStyle(builtInStyle(name, schema, isBesideStreets));
  compiled.set(key, style);
  return style;
}
