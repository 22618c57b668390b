/** Reads the arguments of a command according to its description. Pure. */
import { parseArgs } from 'node:util';
import { nearestName } from '../http/fields/spelling.js';
import { type CommandDescription, type OptionDescription, UsageError } from './command.js';

interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly words: readonly string[];
  readonly wantsHelp: boolean;
}

type Known = Pick<OptionDescription, 'type' | 'form'>;

/**
 * Throws a UsageError on an unknown option, with the nearest known one, on a missing value, on a repetition, and on an
 * option of another form of the command.
 */
export function readArguments(name: string, description: CommandDescription, args: readonly string[]): Arguments {
  const options = Object.entries(description.options).map(([option, { type, short }]) => [
    option,
    { type, ...(short !== undefined && { short }) },
  ]);
  const parsed = parseArgs({
    args: joinNegativeValues(description, args),
    options: { ...Object.fromEntries(options), help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Set<string>();
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue;
    if (given.has(token.name)) throw new UsageError(`${token.rawName} is given twice`);
    given.add(token.name);
    const known: Known | undefined = token.name === 'help' ? { type: 'boolean' } : own(description.options, token.name);
    if (known === undefined) throw new UsageError(unknownOption(token.rawName, description));
    if (known.type === 'string' && !token.value) throw new UsageError(`${token.rawName} needs a value`);
    if (known.type === 'string' && !token.inlineValue && token.value?.startsWith('-'))
      throw new UsageError(
        `${token.rawName} needs a value; write ${token.rawName}=${token.value} if that is the value`,
      );
    if (known.type === 'boolean' && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
    const [form] = parsed.positionals;
    if (known.form !== undefined && form !== undefined && form !== known.form)
      throw new UsageError(`${token.rawName} is an option of "${name} ${known.form}" only`);
  }
  const { help, ...values } = parsed.values as Arguments['values'] & { help?: boolean };
  const wantsHelp = help === true;
  const [unexpected] = parsed.positionals;
  if (!wantsHelp && unexpected !== undefined && description.takesArguments === undefined)
    throw new UsageError(`${name} takes only options, not ${unexpected}`);
  return { values, words: parsed.positionals, wantsHelp };
}

const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

function unknownOption(given: string, { options }: CommandDescription): string {
  const suggestion = nearestName(given, [...Object.keys(options).map((option) => `--${option}`), '--help']);
  return `unknown option ${given}${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`;
}

/** Turns `--from -2h` into `--from=-2h`. Otherwise a value that starts with a dash and a digit would be an option. */
function joinNegativeValues({ options }: CommandDescription, args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const previous = joined.at(-1) ?? '';
    const takesValue = previous.startsWith('--') && own(options, previous.slice(2))?.type === 'string';
    if (takesValue && /^-\d/.test(arg)) joined[joined.length - 1] = `${previous}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}
