/**
 * Counts the colours of the picture, and writes it as rows of palette entries. Colours are numbered from 1 as they
 * occur. The opacity of pixels counts as a part of the colour.
 */
import { colorsAt, countsAt, entriesAt, maxColors, numbersAfter, pixelsAt, slots, slotsAt } from './memory';
import { height, width } from './pixels';

const slotShift: u32 = 32 - u32(ctz(slots));

let colors: i32 = 0;

/** Counts the colours of all pixels. Returns how many there are, or 0 when there are too many. */
export function countColors(): i32 {
  forgetColors();
  const pixels = width * height;
  const end = pixelsAt + 4 * usize(pixels);
  let to = numbersAfter(pixels);
  for (let at = pixelsAt; at < end; ) {
    const color = load<u32>(at);
    const number = numberOf(color);
    if (number === 0) return 0;
    const start = at;
    // Most of a map are runs of one colour.
    const four = i32x4.splat(i32(color));
    const numbers = i16x8.splat(i16(number));
    while (at + 16 <= end && i32x4.all_true(i32x4.eq(v128.load(at), four))) {
      v128.store64_lane(to, numbers, 0);
      at += 16;
      to += 8;
    }
    while (at < end && load<u32>(at) === color) {
      store<u16>(to, u16(number));
      at += 4;
      to += 2;
    }
    addToCount(number, i32(at - start) >> 2);
  }
  return colors;
}

/** Takes so many colours, counts and numbers of pixels that were written to memory, as if they had been counted. */
export function recallColors(count: i32): void {
  forgetColors();
  for (let number = 1; number <= count; number++) {
    store<u16>(slotFor(load<u32>(colorsAt + 4 * usize(number))), u16(number));
  }
  colors = count;
}

/** Counts the pixels of a box again, which have changed. Returns the number of colours, or 0 for too many. */
export function recount(minX: i32, minY: i32, maxX: i32, maxY: i32): i32 {
  const firstNumber = numbersAfter(width * height);
  let last: u32 = 0;
  let number = 0;
  for (let y = minY; y < maxY; y++) {
    for (let x = minX; x < maxX; x++) {
      const i = usize(y * width + x);
      const color = load<u32>(pixelsAt + 4 * i);
      if (number === 0 || color !== last) number = numberOf(color);
      if (number === 0) return 0;
      last = color;
      const at = firstNumber + 2 * i;
      addToCount(i32(load<u16>(at)), -1);
      addToCount(number, 1);
      store<u16>(at, u16(number));
    }
  }
  return colors;
}

function forgetColors(): void {
  memory.fill(slotsAt, 0, 2 * slots);
  colors = 0;
}

function addToCount(number: i32, change: i32): void {
  const at = countsAt + 4 * usize(number);
  store<i32>(at, load<i32>(at) + change);
}

/** Returns the number of a colour, a new one if necessary. Returns 0 when there are too many. */
export function numberOf(color: u32): i32 {
  const slot = slotFor(color);
  const number = i32(load<u16>(slot));
  if (number !== 0) return number;
  if (colors === maxColors) return 0;
  colors++;
  store<u16>(slot, u16(colors));
  store<u32>(colorsAt + 4 * usize(colors), color);
  store<i32>(countsAt + 4 * usize(colors), 0);
  return colors;
}

/** Returns the address of a colour's slot, which is 0 for a colour that has no number. */
function slotFor(color: u32): usize {
  let slot = (color * 0x9e3779b1) >> slotShift;
  while (isOfAnother(slot, color)) slot = (slot + 1) & (slots - 1);
  return slotsAt + 2 * usize(slot);
}

function isOfAnother(slot: u32, color: u32): bool {
  const number = load<u16>(slotsAt + 2 * usize(slot));
  return number !== 0 && load<u32>(colorsAt + 4 * usize(number)) !== color;
}

/**
 * Writes rows of palette entries over the pixels, which are lost. Each begins with the PNG filter type: none. The entry
 * of each number is in memory.
 */
export function writeRows(): void {
  let from = numbersAfter(width * height);
  let to = pixelsAt;
  for (let y = height; y > 0; y--) {
    store<u8>(to++, 0);
    const end = from + 2 * usize(width);
    while (from + 16 <= end) {
      const first = load<u16>(from);
      const eight = v128.load(from);
      // Eight equal numbers are written at once.
      if (i16x8.all_true(i16x8.eq(eight, i16x8.splat(i16(first)))))
        v128.store64_lane(to, i8x16.splat(i8(entryOf(first))), 0);
      else for (let i: usize = 0; i < 8; i++) store<u8>(to + i, entryOf(load<u16>(from + 2 * i)));
      from += 16;
      to += 8;
    }
    for (; from < end; from += 2) store<u8>(to++, entryOf(load<u16>(from)));
  }
}

function entryOf(number: u16): u8 {
  return load<u8>(entriesAt + usize(number));
}
