/**
 * Names an entry of a layer's `metadata`. Names along lines of layers above leave the layer's symbols space, if they
 * have another place. So do names at points of layers with {@link leavesSpace}.
 */
export const reservesSpace = 'fenceline:reserves-space';
export const leavesSpace = 'fenceline:leaves-space';
/** Names an entry of a layer's `metadata`. Names of lines around or across a square are straight, in its middle. */
export const namesSquares = 'fenceline:names-squares';
