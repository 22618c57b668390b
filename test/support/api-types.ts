/**
 * Writes the TypeScript types of the API from its description, for the client: one type per named schema, and one
 * entry per operation with the types of its path, query, body and answer.
 */
import type { Json } from './client.js';

const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text);
const propertyName = (name: string): string => (isName(name) ? name : JSON.stringify(name));
const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never';
const inList = (type: string): string => (/ [|&] /.test(type) ? `(${type})` : type);

function objectOf({ properties = {}, required = [], additionalProperties }: Json): string {
  const fields = Object.entries<Json>(properties).map(
    ([name, schema]) => `${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  return `{ [name: string]: ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'} }`;
}

/** Returns the type of the values that a schema describes. */
function typeOf(schema: Json): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.enum) return union(schema.enum.map((value: Json) => JSON.stringify(value)));
  if ('const' in schema) return JSON.stringify(schema.const);
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return union(parts.map(typeOf));
  if (schema.allOf) return schema.allOf.map((part: Json) => inList(typeOf(part))).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type: string) => typeOf({ ...schema, type })));
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(', ')}]`;
  if (schema.type === 'array') return `${inList(typeOf(schema.items ?? {}))}[]`;
  if (schema.type === 'object') return objectOf(schema);
  if (schema.type === 'integer') return 'number';
  return ['string', 'number', 'boolean', 'null'].includes(schema.type) ? schema.type : 'unknown';
}

function parametersIn(operation: Json, place: string): string {
  const parameters = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === place);
  if (parameters.length === 0) return 'None';
  const required = parameters.filter((parameter: Json) => parameter.required).map(({ name }: Json) => name);
  return objectOf({
    required,
    properties: Object.fromEntries(parameters.map(({ name, schema }: Json) => [name, schema])),
  });
}

function answerOf(operation: Json): string {
  const answers = Object.entries<Json>(operation.responses).filter(([status]) => status.startsWith('2'));
  const schemas = answers.map(([, answer]) => answer.content?.['application/json']?.schema);
  return union(schemas.map((schema) => (schema ? typeOf(schema) : 'unknown')));
}

const widest = 120;

/** Gives each property of a line's first object a line of its own where the line is too long. */
function wrapped(line: string): string {
  const open = line.indexOf('{ ');
  if (line.length <= widest || open < 0) return line;
  const indent = `${/^ */.exec(line)?.[0]}  `;
  let depth = 0;
  let start = open + 2;
  const lines = [line.slice(0, open + 1)];
  for (let at = open; at < line.length; at++) {
    if ('{[('.includes(line[at]!)) depth++;
    if ('}])'.includes(line[at]!)) depth--;
    const isEnd = depth === 0;
    if (isEnd || (depth === 1 && line[at] === ';')) {
      lines.push(wrapped(`${indent}${line.slice(start, at).trim()};`));
      start = at + 1;
    }
    if (isEnd) return [...lines, wrapped(indent.slice(2) + line.slice(at))].join('\n');
  }
  return line;
}

/** Returns the text of the module. */
export function typesOf(document: Json): string {
  const schemas = Object.entries<Json>(document.components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`);
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => {
      const body = operation.requestBody?.content?.['application/json']?.schema;
      return [
        `  '${method.toUpperCase()} ${path}': {`,
        `    path: ${parametersIn(operation, 'path')};`,
        `    query: ${parametersIn(operation, 'query')};`,
        `    body: ${body ? typeOf(body) : 'None'};`,
        `    answer: ${answerOf(operation)};`,
        '  };',
      ].join('\n');
    }),
  );
  return [
    '// Generated from /openapi.json: npx vitest run --project embedded test/end-to-end/openapi.test.ts --update',
    'export type None = Record<never, never>;',
    ...schemas,
    'export interface Operations {',
    ...operations.sort(),
    '}',
    '',
  ]
    .join('\n')
    .split('\n')
    .map(wrapped)
    .join('\n');
}
