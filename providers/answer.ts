/** What a provider answers: the value, or the catalogued error to pass on. */
import { ApiError, type ErrorCode } from '../schemas/errors.js';

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ApiError };

/** Returns a failed answer. @param param the field at fault; the message begins with it. */
export const refusal = (code: ErrorCode, message: string, param?: string): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError(
    code,
    param === undefined ? message : `${param}: ${message}`,
    param === undefined ? {} : { param },
  ),
});
