/** The view of all scripts. */
import { scriptsStyle } from '../scripts.js';
import { type ReferenceView, viewsOf } from '../view.js';

/** The view of all scripts. */
export const scriptViews: readonly ReferenceView[] = [
  viewsOf('scripts')('scripts', 'width=1000&height=1000&center=0,0&zoom=1&language=native&style=scripts', {
    style: scriptsStyle,
  }),
];
