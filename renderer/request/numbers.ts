/** Reads numbers of requests. */
import { invalid, type Validated } from '../../schemas/errors.js';

interface NumberRule {
  readonly minimum: number;
  readonly maximum: number;
  readonly unit?: string;
  /** Whether fractions are refused. */
  readonly isWhole?: boolean;
}

/** Matches numbers without an exponent. */
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Matches coordinates. Programs write those near 0 with an exponent, as in 1e-7. */
export const coordinate = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Reads a decimal number within its bounds. */
export function readNumber(
  param: string,
  text: string | undefined,
  { minimum, maximum, unit, isWhole = false }: NumberRule,
): Validated<number> {
  if (text === undefined) return invalid(param, 'is required');
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum && (!isWhole || Number.isInteger(value))) return { ok: true, value };
  const kind = isWhole ? 'a whole number' : 'a number';
  return invalid(param, `must be ${kind} from ${minimum} to ${maximum}${unit ? ` ${unit}` : ''}`);
}
