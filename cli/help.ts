/** The texts of `fenceline help`. Pure. */
import type { CommandDescription } from './command.js';

const maxWidth = 100;

/** Breaks a text into lines that fit beside an indentation. */
function wrapped(text: string, indent: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line === '') lines[lines.length - 1] = word;
    else if (indent + line.length + 1 + word.length <= maxWidth) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns rows of two columns, the second one wrapped. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length)) + 4;
  return rows.flatMap(([first, second]) =>
    wrapped(second, width).map((line, index) => `  ${(index === 0 ? first : '').padEnd(width - 2)}${line}`),
  );
}

/** Returns the list of all commands. */
export function overview(descriptions: Readonly<Record<string, CommandDescription>>): string {
  return [
    'Fenceline, a self-hosted location platform.',
    '',
    'Usage: fenceline COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...columns(Object.entries(descriptions).map(([name, { summary }]) => [name, summary])),
    '',
    'Options:',
    ...columns([
      ['-h, --help', 'Show this help.'],
      ['-v, --version', 'Show the version.'],
    ]),
    '',
    '"fenceline help COMMAND" explains a command, with its options, their defaults and examples.',
  ].join('\n');
}

/** Returns the help of one command. */
export function commandHelp({ summary, usage, options, examples }: CommandDescription): string {
  const rows = Object.entries(options).map(([name, { short, value, help }]): [string, string] => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  ]);
  return [
    summary,
    '',
    ...usage.map((form, index) => `${index === 0 ? 'Usage:' : '      '} fenceline ${form} [OPTIONS]`),
    '',
    'Options:',
    ...columns([...rows, ['-h, --help', 'Show this help.']]),
    '',
    'Examples:',
    ...examples.flatMap(({ line, explanation }) => [`  ${line}`, `      ${explanation}`]),
  ].join('\n');
}
