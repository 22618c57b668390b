/**
 * Generates docs/commands.md from the descriptions of the commands. Its test writes it with
 * `npx vitest run cli/document --update`.
 */
import { cell } from '../server/config/document.js';
import type { CommandDescription } from './command.js';
import { descriptions } from './descriptions.js';

const head = `# Commands

All commands, generated from [\`cli/descriptions.ts\`](../cli/descriptions.ts). \`fenceline help COMMAND\` shows
the same. [Install](install.md#commands-in-the-guides) says how to run \`fenceline\` beside the package and in a
checkout, and [operations](operations.md#command-line-output) lists the exit statuses.
`;

function optionRow([name, { short, value, help }]: [string, CommandDescription['options'][string]]): string {
  const forms = [...(short === undefined ? [] : [`-${short}`]), `--${name}${value === undefined ? '' : ` ${value}`}`];
  return `| ${forms.map((form) => `\`${cell(form)}\``).join(', ')} | ${cell(help)} |\n`;
}

function section(name: string, { summary, usage, options, examples }: CommandDescription): string {
  const forms = usage.map((form) => `fenceline ${form}${Object.keys(options).length === 0 ? '' : ' [OPTIONS]'}\n`);
  const lines = examples.map(({ line, explanation }) => `# ${explanation}\n${line}\n`);
  return [
    `\n## ${name}\n\n${summary}\n`,
    `\n\`\`\`text\n${forms.join('')}\`\`\`\n`,
    `\n| option | meaning |\n|---|---|\n${Object.entries(options).map(optionRow).join('')}`,
    `\n\`\`\`sh\n${lines.join('\n')}\`\`\`\n`,
  ].join('');
}

/** Returns the whole document, Markdown. */
export function commandsDocument(): string {
  return (
    head +
    Object.entries(descriptions)
      .map(([name, description]) => section(name, description))
      .join('')
  );
}
