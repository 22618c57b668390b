/**
 * Names an entry of a layer's `metadata`. Names along lines of layers above leave the layer's symbols space, if they
 * have another place.
 */
export const reservesSpace = 'fenceline:reserves-space';
