/**
 * The memory of a picture and of the work on it. Addresses are bytes. What is in no use takes no memory of the machine.
 *
 * Work has space for {@link maxPixelsAtOnce} pixels, where rows are padded to a multiple of 128. Larger pictures are
 * painted in bands.
 */

/** Points of a ring or line that is added: x and y as f64. Or the distance field of a letter that is added. */
export const pointsAt: usize = 1_024;
/** Most points of a ring or line; longer ones are added in pieces. */
export const maxPoints: i32 = 2 ** 14;

/** Most pixels that one filling changes. */
export const maxPixelsAtOnce: i32 = 2 ** 20;
/** Most rows that one filling changes. */
export const maxRowsAtOnce: i32 = 4_096;

/** Changes of the covered share, an i32 for each pixel. All are 0 between two fillings. */
export const sumsAt: usize = pointsAt + 16 * maxPoints;
/** A bit for each pixel whose share changes. */
export const changedAt: usize = sumsAt + 4 * maxPixelsAtOnce;
/**
 * Covered shares of 0 to 255 of thin lines, or nearness to letters, a byte for each pixel. All are 0 between two
 * paintings.
 */
export const maskAt: usize = changedAt + maxPixelsAtOnce / 8;
/** A bit for each four bytes of the mask. */
export const touchedAt: usize = maskAt + maxPixelsAtOnce;

/** Of each row of a text: the columns that have values, as two i32. */
export const spansAt: usize = touchedAt + maxPixelsAtOnce / 32;
/** What a text looks like by nearness of 0 to 255: four u16 each. */
export const shadesAt: usize = spansAt + 8 * maxRowsAtOnce;

/** Maximum number of distinct colours. A map has some thousands. */
export const maxColors: i32 = 16_384;
/** A hash table of the numbers of colours, as u16. */
export const slots: i32 = 4 * maxColors;
/** The hash table. */
export const slotsAt: usize = shadesAt + 8 * 256;
/** Of each number: the colour and the pixels that have it, as 32 bits, and its palette entry, a byte. */
export const colorsAt: usize = slotsAt + 2 * slots;
/** The number of pixels of each colour. */
export const countsAt: usize = colorsAt + 4 * (maxColors + 4);
/** The palette entry of each colour. */
export const entriesAt: usize = countsAt + 4 * (maxColors + 4);

/** Red, green, blue and opacity of the pixels, row by row. */
export const pixelsAt: usize = entriesAt + maxColors + 16;

/** Painters change four pixels at a time, and may write those behind the last one without changing them. */
const behindBytes: i32 = 16;

/** Returns the address of the number of each pixel's colour, as u16. */
export function numbersAfter(pixels: i32): usize {
  return pixelsAt + 4 * usize(pixels) + behindBytes;
}

/** Returns the bytes that a picture needs in all. */
export function bytesFor(pixels: i32): usize {
  return numbersAfter(pixels) + 2 * usize(pixels) + behindBytes;
}
