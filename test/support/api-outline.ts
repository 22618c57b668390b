/**
 * Outlines the API's description in one line per operation: parameters, fields of the body, fields of the answer,
 * statuses, and a digest of the schemas. The outline is committed, so that no change of the API goes unnoticed.
 */
import { createHash } from 'node:crypto';
import type { Json } from './client.js';

/** Texts for people may change freely. */
const isText = (name: string): boolean => ['description', 'summary', 'tags', 'operationId'].includes(name);

/** Returns the schema with sorted names and without texts, so that only its meaning counts. */
function normal(node: Json): Json {
  if (Array.isArray(node)) return node.map(normal);
  if (typeof node !== 'object' || node === null) return node;
  const names = Object.keys(node).sort();
  // A property may have the name of a text.
  return Object.fromEntries(
    names.filter((name) => !(isText(name) && typeof node[name] === 'string')).map((name) => [name, normal(node[name])]),
  );
}

const digestOf = (node: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(normal(node)))
    .digest('hex')
    .slice(0, 8);

const schemaIn = (holder: Json): Json => Object.values<Json>(holder?.content ?? {})[0]?.schema ?? {};
const fieldsOf = (schema: Json): string[] => Object.keys(schema.properties ?? {}).sort();

function lineOf(path: string, method: string, operation: Json): string {
  const parameters = (operation.parameters ?? []).map((each: Json) => `${each.in}.${each.name}`).sort();
  const success = Object.entries<Json>(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
  return [
    `${method.toUpperCase()} ${path}`,
    `parameters ${parameters.join(' ') || '-'}`,
    `body ${fieldsOf(schemaIn(operation.requestBody)).join(' ') || '-'}`,
    `answer ${fieldsOf(schemaIn(success)).join(' ') || '-'}`,
    `statuses ${Object.keys(operation.responses).join(' ')}`,
    digestOf(operation),
  ].join('\n  ');
}

/** Returns the outline of an OpenAPI document, and its digest. */
export function outlineOf(document: Json): { readonly text: string; readonly digest: string } {
  const lines = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => lineOf(path, method, operation)),
  );
  const text = `${lines.sort().join('\n')}\n`;
  return { text, digest: createHash('sha256').update(text).digest('hex').slice(0, 8) };
}
