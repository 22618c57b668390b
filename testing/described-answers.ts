/** Compares answers of the API with what /openapi.json says of them. */
import Schema from 'typebox/schema';

/** A part of the description, or of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: schemas and answers have every shape.
type Json = any;

/** Says how answers differ from their description, or returns undefined. */
export interface AnswerCheck {
  /** Checks the answer of an operation. */
  ofOperation(operationId: string, status: number, body: Json): string | undefined;
  /** Checks the answer to a request. A path that is not described is answered by a failure. */
  ofRequest(method: string, path: string, status: number, body: Json): string | undefined;
}

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly pattern: RegExp;
  readonly parameters: number;
  /** By status, of answers in JSON. */
  readonly schemas: ReadonlyMap<string, Json>;
}

const isJson = (type: string): boolean => /^application\/(?:\w+\+)?json$/.test(type);

/** Copies a schema so that objects have only the fields that it names, unless it allows others. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const isOpen = 'additionalProperties' in copy || 'unevaluatedProperties' in copy;
  return copy.type === 'object' && 'properties' in copy && !isOpen ? { ...copy, unevaluatedProperties: false } : copy;
}

const schemasOf = (responses: Json): ReadonlyMap<string, Json> =>
  new Map(
    Object.entries<Json>(responses).flatMap(([status, { content = {} }]) =>
      Object.entries<Json>(content).flatMap(([type, { schema }]) => (isJson(type) && schema ? [[status, schema]] : [])),
    ),
  );

const operationsOf = (paths: Json): Operation[] =>
  Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      parameters: path.split('{').length,
      schemas: schemasOf(responses),
    })),
  );

/** Creates the check of all operations of a description. Each schema is compiled once. */
export function createAnswerCheck({ paths, components }: Json): AnswerCheck {
  // A path with fewer parameters is that of its own operation.
  const operations = operationsOf(paths).sort((one, other) => one.parameters - other.parameters);
  const shared = closed(components);
  const compiled = new Map<Json, ReturnType<typeof Schema.Compile>>();

  function compare({ operationId, schemas }: Operation, status: number, body: Json): string | undefined {
    const schema = schemas.get(`${status}`) ?? schemas.get('default');
    if (schema === undefined) return `${operationId} answers ${status} with JSON`;
    const check = compiled.get(schema) ?? Schema.Compile({ ...closed(schema), components: shared });
    compiled.set(schema, check);
    if (check.Check(body)) return undefined;
    const [, faults] = check.Errors(body);
    return `${operationId} answers ${status} with ${JSON.stringify(body)}: ${JSON.stringify(faults[0])}`;
  }

  return {
    ofOperation(operationId, status, body) {
      const operation = operations.find((each) => each.operationId === operationId);
      return operation && compare(operation, status, body);
    },
    ofRequest(method, path, status, body) {
      const operation = operations.find((each) => each.method === method && each.pattern.test(path));
      return operation && compare(operation, status, body);
    },
  };
}
