/** Builds queries of the analytics store. Every value is a bound parameter, never part of the SQL text. */
import type { Scope } from '../pipeline/catalog/types.js';

/** SQL with its parameters, which ClickHouse binds by name. Texts of callers are only in the parameters. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * A condition with a placeholder per value: `{text}`, `{texts}` for a list, `{number}`, or `{time}` for epoch
 * milliseconds. It is omitted when one of its values is missing. The SQL text is a constant of the code.
 */
export type Condition = readonly [sql: string, ...values: (string | readonly string[] | number | null | undefined)[]];

const bound = {
  text: (name: string) => `{${name}:String}`,
  texts: (name: string) => `{${name}:Array(String)}`,
  number: (name: string) => `{${name}:Int64}`,
  time: (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`,
};

/** Returns a condition for the rows of the project and environment that meet all conditions. */
export function where({ project, environment }: Scope, conditions: readonly Condition[]): Statement {
  const parameters: Record<string, unknown> = { project, environment };
  const parts = ['project = {project:String}', 'environment = {environment:String}'];
  for (const [sql, ...values] of conditions) {
    if (values.some((value) => value === undefined || value === null)) continue;
    const waiting = [...values];
    const part = sql.replace(/\{(texts?|number|time)\}/g, (_, kind: keyof typeof bound) => {
      const name = `value${Object.keys(parameters).length}`;
      parameters[name] = waiting.shift();
      return bound[kind](name);
    });
    parts.push(part);
  }
  return { sql: parts.join(' AND '), parameters };
}
