/** Changes pixels. Opacities are 0 to 256. */
import { pixelsAt } from './memory';

const opaque: u32 = 0xff000000;

/** The size of the picture in pixels. */
export let width: i32 = 0;
export let height: i32 = 0;

/** Sets the size of the picture in pixels. */
export function setSize(columns: i32, rows: i32): void {
  width = columns;
  height = rows;
}

/** Returns the address of a pixel. */
export function addressOf(x: i32, y: i32): usize {
  return pixelsAt + 4 * usize(y * width + x);
}

function paintPixel(at: usize, color: u32, opacity: i32): void {
  store<u32>(at, blended(load<u32>(at), color, opacity));
}

/** Returns a pixel after it was painted with a colour. */
function blended(pixel: u32, color: u32, opacity: i32): u32 {
  // Red and blue have space for one product in a word. Differences that are negative borrow, and the sum returns it.
  const redBlue = i32(pixel & 0xff00ff);
  const green = i32(pixel & 0xff00);
  const newRedBlue = redBlue + (((i32(color & 0xff00ff) - redBlue) * opacity + 0x800080) >> 8);
  const newGreen = green + (((i32(color & 0xff00) - green) * opacity + 0x8000) >> 8);
  return u32(newRedBlue & 0xff00ff) | u32(newGreen & 0xff00) | opaque;
}

/** Paints the pixels from one number to another, counted row by row. */
export function paintPixels(from: i32, to: i32, color: u32, opacity: i32): void {
  paintRun(pixelsAt + 4 * usize(from), pixelsAt + 4 * usize(to), color, opacity);
}

/** Paints the pixels from one address to another. */
export function paintRun(from: usize, to: usize, color: u32, opacity: i32): void {
  if (opacity === 256) fillRun(from, to, color);
  else blendRun(from, to, color, opacity);
}

function fillRun(from: usize, to: usize, color: u32): void {
  const four = i32x4.splat(i32(color));
  let at = from;
  for (; at + 16 <= to; at += 16) v128.store(at, four);
  for (; at < to; at += 4) store<u32>(at, color);
}

function blendRun(from: usize, to: usize, color: u32, opacity: i32): void {
  const below = i16x8.splat(i16(256 - opacity));
  const above = shareOfColor(color, i16x8.splat(i16(opacity)));
  let at = from;
  for (; at + 16 <= to; at += 16) {
    const pixels = v128.load(at);
    const low = mixed(i16x8.extend_low_i8x16_u(pixels), below, above);
    const high = mixed(i16x8.extend_high_i8x16_u(pixels), below, above);
    v128.store(at, i8x16.narrow_i16x8_u(low, high));
  }
  for (; at < to; at += 4) paintPixel(at, color, opacity);
}

/** Paints four pixels, each with an opacity of its own in the lanes of `opacities`. */
export function paintFour(at: usize, color: u32, opacities: v128): void {
  const pixels = v128.load(at);
  // The lower half of a lane for each channel of its pixel.
  const first = i8x16.shuffle(opacities, opacities, 0, 1, 0, 1, 0, 1, 0, 1, 4, 5, 4, 5, 4, 5, 4, 5);
  const last = i8x16.shuffle(opacities, opacities, 8, 9, 8, 9, 8, 9, 8, 9, 12, 13, 12, 13, 12, 13, 12, 13);
  const whole = i16x8.splat(256);
  const low = mixed(i16x8.extend_low_i8x16_u(pixels), i16x8.sub(whole, first), shareOfColor(color, first));
  const high = mixed(i16x8.extend_high_i8x16_u(pixels), i16x8.sub(whole, last), shareOfColor(color, last));
  v128.store(at, i8x16.narrow_i16x8_u(low, high));
}

/** Returns what a colour adds to the channels of two pixels, in 256ths, with a half for rounding. */
function shareOfColor(color: u32, opacities: v128): v128 {
  const channels = i16x8.extend_low_i8x16_u(i32x4.splat(i32(color)));
  return i16x8.add(i16x8.mul(channels, opacities), i16x8.splat(128));
}

/** Returns the channels of two pixels. Products of 16 bits never overflow: shares add up to 256. */
function mixed(channels: v128, below: v128, above: v128): v128 {
  return i16x8.shr_u(i16x8.add(i16x8.mul(channels, below), above), 8);
}
