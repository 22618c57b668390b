/** Reads numbers of requests. */
import { invalid, type Validated } from '../../schemas/errors.js';

interface NumberRule {
  readonly minimum: number;
  readonly maximum: number;
  readonly unit?: string;
}

/** Matches numbers without an exponent. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Matches coordinates. Programs write those near 0 with an exponent, as in 1e-7. */
export const coordinate = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Reads a decimal number within its bounds. */
export function readNumber(
  param: string,
  text: string | undefined,
  { minimum, maximum, unit }: NumberRule,
): Validated<number> {
  if (text === undefined) return invalid(param, 'is required');
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return { ok: true, value };
  return invalid(param, `must be a number from ${minimum} to ${maximum}${unit ? ` ${unit}` : ''}`);
}
