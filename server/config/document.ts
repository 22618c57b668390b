/**
 * Generates docs/configuration.md from the settings. Its test writes it with
 * `npx vitest run server/config/document --update`.
 */
import { type Setting, settings } from './settings.js';

const head = `# Configuration

All settings, generated from [\`server/config/schema.ts\`](../server/config/schema.ts).
[Operations](operations.md#configuration) explains files, variables, flags and their precedence.
\`npm run fenceline -- config\` prints the values of a node and the source of each.

A unit ends the name: \`Ms\` are milliseconds, \`Bytes\` bytes. A list in a variable is separated by commas.
`;

const code = (value: string): string => `\`${value}\``;

function defaultOf({ schema }: Setting): string {
  if (Array.isArray(schema.default)) return schema.default.length === 0 ? 'none' : code(schema.default.join(','));
  return schema.default === '' ? 'empty' : code(String(schema.default));
}

const formatNames = {
  bounds: 'list of four numbers',
  header: 'text in ASCII',
  networks: 'addresses and CIDR blocks',
  roles: 'list of roles',
  seconds: 'list of seconds',
  timeOfDay: 'HH:mm',
  timeZone: 'IANA time zone',
  url: 'URL',
} as const satisfies Record<NonNullable<Setting['schema']['format']>, string>;

function allowed({ schema }: Setting): string {
  if (schema.enum) return schema.enum.map(code).join(', ');
  const format = schema.format === undefined ? undefined : formatNames[schema.format];
  if (schema.type === 'array') return format ?? 'list of texts';
  if (schema.type === 'string') return `${format ?? 'text'}${schema.secret ? ', secret' : ''}`;
  const { minimum = 0, maximum } = schema;
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
}

/** Returns the text of a cell of a Markdown table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = (setting: Setting): string =>
  `| ${[`${code(setting.key)}<br>${code(setting.variable)}`, defaultOf(setting), allowed(setting), setting.schema.description].map(cell).join(' | ')} |\n`;

const sectionOf = ({ key }: Setting): string => (key.includes('.') ? (key.split('.')[0] as string) : 'process');

/** Returns the whole document, Markdown. */
export function configurationDocument(): string {
  const sections = [...new Set(settings.map(sectionOf))].map((section) => {
    const rows = settings.filter((setting) => sectionOf(setting) === section).map(row);
    return `\n## ${section}\n\n| setting | default | values | consequence |\n|---|---|---|---|\n${rows.join('')}`;
  });
  return head + sections.join('');
}
