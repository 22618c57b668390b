/** All reference views, in the order of the page. */
import type { ReferenceView } from './view.js';
import { overlayViews } from './views/overlays.js';
import { scriptViews } from './views/scripts.js';
import { spriteViews } from './views/sprites.js';
import { streetViews } from './views/streets.js';
import { worldViews } from './views/world.js';

/** All views. */
export const referenceViews: readonly ReferenceView[] = [
  ...worldViews,
  ...streetViews,
  ...spriteViews,
  ...scriptViews,
  ...overlayViews,
];
