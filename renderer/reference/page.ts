/** The page that shows all reference views: the README beside it. Pure. */
import type { ReferenceView } from './view.js';

const head = `# Reference views

Maps that were looked at, each with its query. The tests draw them anew and hold them against these images: at most 0.5 % of an image's
pixels may be off by more than 32 of 255. The styles \`blueprint\` and \`woven\`, the icons \`depot\`, \`photo\` and \`large\`, and the geofences are those of the
code in this folder; \`missing\` is an icon that isn't there. Streets come from [small archives](archives/README.md), © OpenStreetMap contributors.

After a change that is meant to be seen, draw them anew, look at each that changed, and commit those:

\`\`\`sh
UPDATE_REFERENCE=1 npx vitest run renderer/reference
\`\`\`
`;

export function referencePage(views: readonly ReferenceView[]): string {
  return [head, ...views.map(section)].join('\n');
}

function section({ name, archive, query }: ReferenceView): string {
  return `## ${name}

![${name}](images/${name}.webp)

From \`${archive}\`:

\`\`\`
${query}
\`\`\`
`;
}
