/** Reads the numbers of options. Pure. */
import { numberOf } from '../http/fields/values.js';
import { UsageError } from './command.js';

interface NumberRule {
  readonly least: number;
  readonly most: number;
}

/**
 * Reads decimal text such as `0.5` or `10e6`. Throws a UsageError that names the option and the rule for any other
 * text, such as hexadecimal digits, and for a number out of range.
 */
export function decimal(option: string, text: string, { least, most }: NumberRule): number {
  const number = numberOf(text);
  if (number !== null && number >= least && number <= most) return number;
  throw new UsageError(`--${option} must be a number from ${least} to ${most}`);
}

/** Reads a whole number as {@link decimal} reads numbers. */
export function wholeNumber(option: string, text: string, { least, most }: NumberRule): number {
  const number = numberOf(text);
  if (number !== null && Number.isSafeInteger(number) && number >= least && number <= most) return number;
  throw new UsageError(`--${option} must be a whole number from ${least} to ${most}`);
}
