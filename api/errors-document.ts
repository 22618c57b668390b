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
    "message": "radius: must be a number from 10 to 10000 metres",
    "requestId": "6563b3f1a2c4e6f80b1d3f57"
  }
}
\`\`\`

\`meta.code\` is the HTTP status. \`meta.type\` is one of the stable codes below, so programs may switch on it.
\`message\` is for people and may change. \`requestId\`, also in the header \`X-Radar-Request-Id\`, names the request in
the server's log, where it is \`reqId\`. It is the caller's \`X-Request-Id\`
if that has 8 to 64 letters, digits and \`-_.:\`.

| type | status | retry unchanged? | meaning |
|---|---|---|---|
`;

const tail = `
A browser that opens an address that does not exist gets a page with status 404. Paths of the API, such as those below
\`/v1\` and \`/maps\`, always answer as above.
`;

/** Returns the whole document as Markdown. */
export function errorsDocument(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, retry, meaning }]) => `| \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} | ${meaning} |\n`,
  );
  return head + rows.join('') + tail;
}
