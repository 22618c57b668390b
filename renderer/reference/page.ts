/** Builds the README beside this file, which shows all reference views. Pure. */
import type { ReferenceView } from './view.js';

const head = `# Reference views

These maps were approved by eye. The tests draw each query again and compare it with its image: at most 0.05 % of the
pixels may differ by more than 12 of 255, and the mean difference is at most 0.1. Positions of labels are compared with
[labels.json](labels.json), within 0.5 pixels and 1°. Shapes and labels are compared with MapLibre GL JS as well:
\`npm run test:styles\`.

The styles \`blueprint\` and \`woven\`, the icons \`depot\`, \`photo\` and \`large\`, and the geofences are defined in this
folder. The icon \`missing\` does not exist. Public styles come from packages, without their icons. Streets come from
[small archives](archives/README.md), © OpenStreetMap contributors.

After an intended change, update the references, look at each image that changed, and commit them:

\`\`\`sh
UPDATE_REFERENCE=1 npx vitest run renderer/reference
\`\`\`
`;

/** Returns the page as Markdown. */
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
