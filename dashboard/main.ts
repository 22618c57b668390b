/** Shows what the browser keeps, which needs little code, and starts the page. */
import { showFirstPicture } from './first-picture';
import { applyTheme } from './state/theme';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/layout.css';
import './styles/print.css';

applyTheme();
showFirstPicture();
void import('./application').then(({ start }) => start());
