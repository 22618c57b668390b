/** What a provider answers: the value, or the catalogued error to pass on. */
import { ApiError, type ErrorCode, fieldError } from '../schemas/errors.js';
import { cutText } from '../schemas/wording.js';

/** The value, or the catalogued error to pass on to the caller. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ApiError };

/** Returns a failed answer. @param param the field at fault; the message begins with it. */
export const refusal = (code: ErrorCode, message: string, param?: string): { ok: false; error: ApiError } => ({
  ok: false,
  error: param === undefined ? new ApiError(code, message) : fieldError(code, { param, rule: message }),
});

/** Statuses below 500 with which the same request may succeed later, or after the operator has corrected the key. */
const passingStatuses: readonly number[] = [401, 403, 408, 429];

/** Returns whether a service that answered with this status would refuse the same request again. */
export const isFinalRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && !passingStatuses.includes(status);

const maxReasonCharacters = 300;

/** Returns what a service gives as its reason, of any length, for a message. */
export const shownReason = (reason: string): string => cutText(reason, maxReasonCharacters).toWellFormed();
