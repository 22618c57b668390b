/**
 * Reads JSON and form bodies. Input: bytes. Output: parsed values, or a catalogued error that names the place of
 * the fault. JSON must be UTF-8 and its text well-formed, so that nothing that is stored has two meanings.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import qs from 'qs';
import { ApiError, parameterError } from '../../schemas/errors.js';
import { createTurns } from '../../schemas/turns.js';
import { describeJsonFault, findJsonFault, jsonExcess } from '../fields/json-text.js';
import {
  badlyEncodedField,
  fieldBeyond,
  malformedTextIn,
  mayHoldSurrogates,
  percentEncodingRule,
  prototypeField,
  prototypeRule,
  wellFormedRule,
} from '../fields/text.js';
import { RepeatedTexts } from '../fields/values.js';
import { announcedBytes, codingOf } from './uploads.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The route checks the texts of its body itself, item by item, so that one malformed text does not refuse the
     * others.
     */
    checksTexts?: boolean;
  }
}

const maxFields = 2_000;

const formOptions = { depth: 3, parameterLimit: maxFields, arrayLimit: maxFields, plainObjects: true };
/** A key of metadata that consists of digits, which would be an index of a list. */
const digitsAsKey = /(?:^|&)metadata(?:\[|%5B)\d/i;

/** Returns the fields of a query string or form. `metadata[key]=value` nests. The name `__proto__` is left out. */
export function parseForm(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = qs.parse(text, formOptions);
  if (Array.isArray(fields.metadata) && digitsAsKey.test(text))
    fields.metadata = qs.parse(text, { ...formOptions, parseArrays: false }).metadata;
  for (const [name, value] of Object.entries(fields)) {
    if (isListOfTexts(value)) fields[name] = RepeatedTexts.from(value);
  }
  return fields;
}

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Returns the index of the first byte that is not UTF-8: the decoded text has U+FFFD there. */
function firstBadByte(bytes: Buffer): number {
  const written = Buffer.from(bytes.toString('utf8'));
  return bytes.findIndex((byte, index) => byte !== written[index]);
}

function textOf(request: FastifyRequest, bytes: Buffer): string {
  if (codingOf(request) !== 'identity')
    throw new ApiError('unsupported_media_type', 'Content-Encoding must be absent: this endpoint decompresses no body');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new ApiError('invalid_body', `the body is not UTF-8: byte ${firstBadByte(bytes) + 1}`);
}

/** Returns the refusal of text that the parser refused: it is not JSON, or it has a name that would set a prototype. */
function refusedJson(text: string): ApiError {
  const fault = findJsonFault(text);
  if (fault === undefined)
    return new ApiError('invalid_body', 'the body must not contain the name __proto__, or prototype in constructor');
  return new ApiError('invalid_body', `the body is not valid JSON: ${describeJsonFault(text, fault)}`);
}

function checkTexts(request: FastifyRequest, text: string, value: unknown): void {
  if (request.routeOptions.config.checksTexts || !mayHoldSurrogates(text)) return;
  const param = malformedTextIn(value);
  if (param !== undefined) throw parameterError({ param, rule: wellFormedRule });
}

/** Checks what would be lost or changed by {@link parseForm}. */
function checkForm(text: string): void {
  const beyond = fieldBeyond(text, maxFields);
  if (beyond !== undefined)
    throw parameterError({ param: beyond, rule: `must be among the first ${maxFields} fields` });
  const param = badlyEncodedField(text);
  if (param !== undefined) throw parameterError({ param, rule: percentEncodingRule });
  const unsafe = prototypeField(text);
  if (unsafe !== undefined) throw parameterError({ param: unsafe, rule: prototypeRule });
}

/** Larger bodies take up to a tenth of a second each, with the work of their route. */
const maxBytesAtOnce = 65_536;
const nextTurn = createTurns();

const plus = '+'.charCodeAt(0);
const space = ' '.charCodeAt(0);

/**
 * Writes the spaces of a form as spaces, in place. The parser of forms would replace each `+` of the text, and take a
 * second and a half for five million.
 */
function withSpaces(form: Buffer): Buffer {
  for (let at = form.indexOf(plus); at >= 0; at = form.indexOf(plus, at + 1)) form[at] = space;
  return form;
}

/** How JSON of an object or of a list of them begins. No name of a field begins so. */
const jsonStart = /^\s*(\{\s*["}]|\[\s*\{)/;
/** curl sends a form by default. */
const formOfJson = 'the body is JSON, but its Content-Type is that of a form: send Content-Type: application/json';

/**
 * Adds the parsers of bodies. An empty body counts as none, whatever its type: SDKs send a Content-Type on every call,
 * and other clients that of an empty text.
 */
export function readBodies(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    // An upload needs the type of an empty file, too.
    if (announcedBytes(request) === 0 && !request.routeOptions.config.streamsBody)
      delete request.raw.headers['content-type'];
  });
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  function readJson(request: FastifyRequest, bytes: Buffer): unknown {
    const text = textOf(request, bytes);
    if (text.trim() === '') return undefined;
    const excess = jsonExcess(text);
    if (excess !== undefined) throw new ApiError('invalid_body', `the body must have ${excess}`);
    let parsed: { readonly error: Error | null; readonly value?: unknown } | undefined;
    // The parser calls back at once. An error that is thrown inside its callback would be reported as broken JSON.
    void parse(request, text, (error, value) => {
      parsed ??= { error, value };
    });
    if (!parsed || parsed.error) throw refusedJson(text);
    checkTexts(request, text, parsed.value);
    return parsed.value;
  }

  function readForm(request: FastifyRequest, bytes: Buffer): unknown {
    const text = textOf(request, withSpaces(bytes));
    if (jsonStart.test(text)) throw new ApiError('invalid_body', formOfJson);
    checkForm(text);
    return parseForm(text);
  }

  function addParser(types: string | string[], read: typeof readJson): void {
    app.addContentTypeParser<Buffer>(types, { parseAs: 'buffer' }, (request, bytes, done) => {
      if (bytes.length <= maxBytesAtOnce) return done(null, read(request, bytes));
      // Bodies of many requests arrive in one turn of the event loop. Each large one is read in a turn of its own.
      nextTurn()
        .then(() => read(request, bytes))
        .then((value) => done(null, value), done);
    });
  }
  addParser(['application/json', 'application/merge-patch+json'], readJson);
  addParser('application/x-www-form-urlencoded', readForm);
}

/** Adds the check of query strings. Text that cannot be decoded would stay as it is and differ from what was meant. */
export function checkQueries(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const start = request.url.indexOf('?');
    if (start >= 0) checkForm(request.url.slice(start + 1));
  });
}
