/**
 * The one catalogue of errors that Fenceline answers or logs.
 *
 * Flows in: a code and, for parameter errors, the field and the rule. Flows out: an {@link ApiError} that the HTTP
 * rooms turn into `{"meta":{"code":400,"type":"invalid_parameter","param":"radius","message":"radius: must be 10 to
 * 10000 metres"}}`.
 * Codes are stable: clients may switch on `meta.type`. `docs/errors.md` is made from this table, and a test holds it
 * so.
 */

/** One row of the catalogue. `retry`: may the same request succeed later without being changed? */
export interface ErrorDefinition {
  readonly status: number;
  readonly retry: boolean;
  readonly meaning: string;
}

export const errorCatalogue = {
  invalid_parameter: {
    status: 400,
    retry: false,
    meaning: 'A field is missing or breaks its rule; `meta.param` names it.',
  },
  invalid_body: { status: 400, retry: false, meaning: 'The body is not valid JSON, form data or Avro.' },
  malformed_request: {
    status: 400,
    retry: false,
    meaning: 'What came is not an HTTP/1.1 request; the connection is closed.',
  },
  not_available: {
    status: 400,
    retry: false,
    meaning: 'The feature is known, but this installation does not offer it yet.',
  },
  query_too_large: {
    status: 400,
    retry: false,
    meaning:
      'A question over analytics takes more time, memory or rows than one may; ask for a shorter range, or of less.',
  },
  unauthorized: { status: 401, retry: false, meaning: 'The key is missing, unknown or revoked.' },
  forbidden: { status: 403, retry: false, meaning: 'The key is valid but has too little authority for this call.' },
  not_found: { status: 404, retry: false, meaning: 'There is no such resource or path.' },
  method_not_allowed: { status: 405, retry: false, meaning: 'The path exists, but not with this method.' },
  request_timeout: {
    status: 408,
    retry: true,
    meaning: 'The headers or the body came too slowly; the connection is closed.',
  },
  conflict: { status: 409, retry: false, meaning: 'The request contradicts a record that exists.' },
  edit_conflict: {
    status: 409,
    retry: true,
    meaning: 'Others changed the record each time that this edit was tried; nothing was changed by it.',
  },
  precondition_failed: {
    status: 412,
    retry: false,
    meaning: 'The record is not at the revision that `If-Match` names; read it again and decide anew.',
  },
  body_too_large: { status: 413, retry: false, meaning: 'The body is larger than the endpoint accepts.' },
  uri_too_long: { status: 414, retry: false, meaning: 'The URL is longer than the server reads.' },
  unsupported_media_type: { status: 415, retry: false, meaning: 'The Content-Type is not one the endpoint reads.' },
  rate_limited: {
    status: 429,
    retry: true,
    meaning: 'Too many requests for this key or device; `Retry-After` says when to come back.',
  },
  headers_too_large: {
    status: 431,
    retry: false,
    meaning: 'The request line and the headers are larger than the server reads.',
  },
  internal: {
    status: 500,
    retry: true,
    meaning: 'An unexpected failure; the request id in the answer finds it in the log.',
  },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'More is in flight than can be kept; `Retry-After` says when to come back.',
  },
  storage_full: {
    status: 503,
    retry: true,
    meaning: 'The disk is nearly full, so nothing can be stored; reads go on. `Retry-After` says when to come back.',
  },
  unavailable: {
    status: 503,
    retry: true,
    meaning: 'A part that this call needs is starting, stopping or out of reach.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCatalogue;

/** An expected failure of a request: catalogued, safe to show, with the field it is about where there is one. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: { param?: string; retryAfterS?: number } = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.param = options.param;
    this.retryAfterS = options.retryAfterS;
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/**
 * A field that breaks its rule. `rule` is a phrase that reads on after the field's name, as in "must be 10 to 10000".
 */
export interface FieldProblem {
  readonly param: string;
  readonly rule: string;
}

/** The outcome of validating a value: the value in its normal form, or what is wrong with it. */
export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: FieldProblem };

/** Shorthand for a failed validation. */
export const invalid = (param: string, rule: string): { ok: false; problem: FieldProblem } => ({
  ok: false,
  problem: { param, rule },
});

/** The problem as the error that is answered: `latitude: must be -90 to 90`. */
export const parameterError = ({ param, rule }: FieldProblem): ApiError =>
  new ApiError('invalid_parameter', `${param}: ${rule}`, { param });
