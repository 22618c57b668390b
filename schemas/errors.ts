/**
 * The catalogue of all errors that the API returns.
 *
 * Input: a code and, for parameter errors, the field and the rule. Output: an {@link ApiError}, which the HTTP modules
 * return as `{"meta":{"code":400,"type":"invalid_parameter","param":"radius","message":"radius: must be 10 to 10000
 * metres","requestId":"…"}}`. Codes are stable: clients may switch on `meta.type`. `docs/errors.md` is generated from
 * this table, and a test compares the two.
 */

/** One row of the catalogue. `retry`: the same request, unchanged, may succeed later. */
interface ErrorDefinition {
  readonly status: number;
  readonly retry: boolean;
  readonly meaning: string;
}

/**
 * Every code with its HTTP status, whether a repeat of the same request can succeed, and its meaning for readers of
 * `docs/errors.md`.
 */
export const errorCatalogue = {
  invalid_parameter: {
    status: 400,
    retry: false,
    meaning: 'A field is missing or invalid. `meta.param` names the field.',
  },
  invalid_body: { status: 400, retry: false, meaning: 'The body is not valid JSON, form data or Avro.' },
  malformed_request: {
    status: 400,
    retry: false,
    meaning: 'The data is not an HTTP/1.1 request. The server closes the connection.',
  },
  not_available: {
    status: 400,
    retry: false,
    meaning: 'The feature exists, but this installation does not offer it.',
  },
  address_not_found: {
    status: 400,
    retry: false,
    meaning: 'The geocoder does not know the address, or only something coarser, such as its town.',
  },
  outside_road_data: {
    status: 400,
    retry: false,
    meaning:
      'The road data has no road near the point, or its edge cuts the area. A stored geofence keeps its geometry.',
  },
  query_too_large: {
    status: 400,
    retry: false,
    meaning:
      'A query exceeds the limit on time, memory, rows or bytes. Query a shorter time range or fewer geofences, or ' +
      'choose a smaller `limit`.',
  },
  map_too_large: {
    status: 400,
    retry: false,
    meaning:
      'The tiles in view, or what the layers of the style draw of them, exceed what one map may use. ' +
      'Choose a smaller map or a higher zoom, or a style with fewer layers.',
  },
  unauthorized: {
    status: 401,
    retry: false,
    meaning: 'The key or session is missing, unknown, ended or revoked, or the address or password is wrong.',
  },
  forbidden: { status: 403, retry: false, meaning: 'The key or session is valid but not allowed to make this call.' },
  plan_required: {
    status: 403,
    retry: false,
    meaning: 'The plan of the project does not include this feature. The operator of the installation sets plans.',
  },
  origin_not_allowed: {
    status: 403,
    retry: false,
    meaning: 'The setting `allowedOrigins` does not allow web pages of this origin to use publishable keys.',
  },
  not_found: { status: 404, retry: false, meaning: 'The resource or the path does not exist.' },
  method_not_allowed: { status: 405, retry: false, meaning: 'The path does not support this method.' },
  request_timeout: {
    status: 408,
    retry: true,
    meaning: 'The headers or the body arrived too slowly. The server closes the connection.',
  },
  conflict: { status: 409, retry: false, meaning: 'The request conflicts with an existing record.' },
  edit_conflict: {
    status: 409,
    retry: true,
    meaning: 'Concurrent edits changed the record on every attempt. This edit was not applied.',
  },
  request_in_progress: {
    status: 409,
    retry: true,
    meaning: 'An earlier request with the same `Idempotency-Key` is still running.',
  },
  import_running: {
    status: 409,
    retry: true,
    meaning: 'Another import of this project is running. Retry when it has ended; `GET /v1/imports` shows it.',
  },
  replay_running: {
    status: 409,
    retry: true,
    meaning: 'Another replay of this project is running. Cancel it, or retry when it has ended.',
  },
  precondition_failed: {
    status: 412,
    retry: false,
    meaning:
      'The record is no longer at the revision in `If-Match`, or exists despite `If-None-Match`. Read it again ' +
      'before you edit it.',
  },
  body_too_large: { status: 413, retry: false, meaning: 'The body is larger than the endpoint accepts.' },
  uri_too_long: { status: 414, retry: false, meaning: 'The URL is longer than the server accepts.' },
  unsupported_media_type: {
    status: 415,
    retry: false,
    meaning: 'The endpoint does not accept this Content-Type or Content-Encoding.',
  },
  idempotency_key_reused: {
    status: 422,
    retry: false,
    meaning: 'The `Idempotency-Key` was used for another request within a day. Send a new key.',
  },
  rate_limited: {
    status: 429,
    retry: true,
    meaning: 'This key or device sent too many requests. Retry after the seconds in `Retry-After`.',
  },
  too_many_attempts: {
    status: 429,
    retry: true,
    meaning: 'Too many attempts to sign in, sign up or use a mailed token. Retry after the seconds in `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    retry: false,
    meaning: 'The request line and the headers are larger than the server accepts.',
  },
  internal: {
    status: 500,
    retry: true,
    meaning: 'An unexpected failure. Search the log for the request id of the response.',
  },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'Too many requests are in flight. Retry after the seconds in `Retry-After`.',
  },
  storage_full: {
    status: 503,
    retry: true,
    meaning: 'The disk is nearly full: writes fail, reads work. Retry after the seconds in `Retry-After`.',
  },
  unavailable: {
    status: 503,
    retry: true,
    meaning: 'A service that this call needs is starting, stopping or unreachable.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/** Codes of the catalogue, which answers have as `meta.type`. */
export type ErrorCode = keyof typeof errorCatalogue;

interface ApiErrorOptions {
  readonly param?: string;
  readonly rule?: string;
  readonly retryAfterS?: number | undefined;
}

/** An expected failure of a request, with a code of the catalogue. The message is safe to show to clients. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** Of an error about a field: what its message says after the field's name. */
  readonly rule: string | undefined;
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.param = options.param;
    this.rule = options.rule;
    this.retryAfterS = options.retryAfterS;
  }

  /** Returns the HTTP status of the code. */
  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/**
 * An invalid field. `rule` continues a sentence that begins with the field's name, such as "must be 10 to 10000".
 */
export interface FieldProblem {
  readonly param: string;
  readonly rule: string;
}

/** The outcome of a validation: the value in normal form, or the problem. */
export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: FieldProblem };

/** Returns a failed validation. */
export const invalid = (param: string, rule: string): { ok: false; problem: FieldProblem } => ({
  ok: false,
  problem: { param, rule },
});

/** Returns the error to respond with, such as `latitude: must be -90 to 90`. */
export const parameterError = (problem: FieldProblem): ApiError => fieldError('invalid_parameter', problem);

/** Does the same with a code of its own. */
export const fieldError = (code: ErrorCode, { param, rule }: FieldProblem, retryAfterS?: number): ApiError =>
  new ApiError(code, `${param}: ${rule}`, { param, rule, retryAfterS });
