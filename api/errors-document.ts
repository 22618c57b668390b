/**
 * Generates docs/errors.md from the catalogue. Its test writes it with `npx vitest run api/errors-document --update`.
 */
import { errorCatalogue } from '../schemas/errors.js';

const head = `# Errors

Every error response has this shape. \`param\` is present when one field is at fault:

\`\`\`json
{
  "meta": {
    "code": 400,
    "type": "invalid_parameter",
    "param": "radius",
    "message": "radius: must be a number from 10 to 10000 metres"
  }
}
\`\`\`

\`meta.code\` is the HTTP status. \`meta.type\` is one of the stable codes below, so programs may switch on it. \`message\`
is for people and may change. The header \`X-Radar-Request-Id\` names the request in the server's log.

| type | status | retry unchanged? | meaning |
|---|---|---|---|
`;

/** The whole document, Markdown. */
export function errorsDocument(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, retry, meaning }]) => `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${meaning} |\n`,
  );
  return head + rows.join('');
}
