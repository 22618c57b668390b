/** Puts the default basemap where servers and renderers look for it: each would bake its own beside the measurement. */
import { join } from 'node:path';
import { placeBasemapForProgram } from '../renderer/testing/basemap-cache.js';

const recipe = new URL('../renderer/basemap/recipe.js', import.meta.url).href;

/** Puts the default basemap into `folder`, the data folder of a server or the cache folder of a renderer. */
export const placeBasemap = (folder: string): Promise<void> => placeBasemapForProgram(recipe, join(folder, 'basemap'));
