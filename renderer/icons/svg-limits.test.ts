import { describe, expect, test } from 'vitest';
import { svgProblem } from './svg-limits.js';

const svg = (content: string): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40">${content}</svg>`,
  );
const rect = '<rect width="40" height="40"/>';

/** Each level uses the one before it ten times. */
const nestedUse = (levels: number, use = (id: string) => `<use href="#${id}"/>`): string => {
  const groups = Array.from(
    { length: levels },
    (_, level) => `<g id="a${level + 1}">${use(`a${level}`).repeat(10)}</g>`,
  );
  return `<defs><g id="a0">${rect}</g>${groups.join('')}</defs>${use(`a${levels}`)}`;
};

test('an entity named like a property of every object was taken for a known one', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    expect([name, svgProblem(svg(`<g id="&${name};"/>${rect}`))]).toEqual([name, expect.anything()]);
  }
});

describe('a small but expensive SVG is refused with the rule it breaks', () => {
  test.each([
    ['use within use', nestedUse(5), 'drawing steps'],
    ['use by xlink', nestedUse(5, (id) => `<use xlink:href="#${id}"/>`), 'drawing steps'],
    [
      'use under another prefix',
      `<s:g xmlns:s="http://www.w3.org/2000/svg">${nestedUse(5, (id) => `<s:use href="#${id}"/>`)}</s:g>`,
      'drawing steps',
    ],
    ['use by an id of character references', nestedUse(5, (id) => `<use href="&#35;${id}"/>`), 'drawing steps'],
    [
      'patterns within patterns',
      `${Array.from(
        { length: 6 },
        (_, n) => `<pattern id="p${n + 1}">${`<rect fill="url(#p${n})"/>`.repeat(10)}</pattern>`,
      ).join('')}<pattern id="p0"><rect/></pattern><rect fill="url(#p6)"/>`,
      'drawing steps',
    ],
    [
      'a pattern that all shapes of a group inherit',
      `<pattern id="p">${rect.repeat(200)}</pattern><g style="fill: url('#p')">${rect.repeat(200)}</g>`,
      'drawing steps',
    ],
    [
      'masks within masks, by class',
      '<style>/* .a */ .a, .b { mask: url(#m1) } .c { mask: url(#m2) }</style>' +
        `<mask id="m1">${'<g class="c"/>'.repeat(200)}</mask>` +
        `<mask id="m2">${rect.repeat(200)}</mask><g class="x a"/>`,
      'drawing steps',
    ],
    [
      'any selector',
      `<style>svg > * { fill: url(#p) }</style><pattern id="p">${rect.repeat(200)}</pattern>${rect.repeat(200)}`,
      'drawing steps',
    ],
    [
      'markers at every vertex',
      `<marker id="m">${rect.repeat(100)}</marker><path marker-mid="url(#m)" d="M0 0${'L1 1'.repeat(500)}"/>`,
      'drawing steps',
    ],
    ['an outline that crosses itself', `<path d="M0 0${'L9 5 1 7'.repeat(8_000)}"/>`, 'drawing steps'],
    [
      'filters, many times',
      `<filter id="f"><feGaussianBlur stdDeviation="9"/></filter>${'<g filter="url(#f)"/>'.repeat(30)}`,
      'filter effects',
    ],
    [
      'noise of many octaves',
      '<filter id="f"><feTurbulence numOctaves="200"/></filter><g filter="url(#f)"/>',
      'filter effects',
    ],
    ['depth', `${'<g>'.repeat(70)}${'</g>'.repeat(70)}`, 'deeper'],
    [
      'depth by references',
      Array.from({ length: 80 }, (_, n) => `<g id="g${n}"><use href="#g${n + 1}"/></g>`).join(''),
      'deeper',
    ],
    ['itself', '<g id="a"><use href="#a"/></g>', 'itself'],
    ['elements', '<g/>'.repeat(10_001), 'elements'],
    ['text', `<text>${'word '.repeat(300)}</text>`, 'text'],
    ['text, used many times', `<text id="t">${'word '.repeat(20)}</text>${'<use href="#t"/>'.repeat(20)}`, 'text'],
    ['an embedded image', '<image href="data:image/png;base64,iVBORw0KGgo="/>', 'images'],
    ['an image in a filter', '<filter><feImage href="#a"/></filter>', 'images'],
    ['a file', '<use href="file:///etc/passwd#a"/>', 'outside'],
    ['an address', '<rect fill="url(https://a.example/#p)"/>', 'outside'],
    ['an imported style sheet', '<style>@import "data:text/css,rect{fill:red}";</style>', 'outside'],
    ['an escaped url', '<rect style="fill: \\75rl(#p)"/>', 'outside'],
    ['an included file', '<include xmlns="http://www.w3.org/2001/XInclude" href="a.svg"/>', 'outside'],
    ['an entity', '<text>&lol;</text>', 'entities'],
    ['a tag that never ends', '<rect', 'well-formed'],
  ])('%s', (_, content, rule) => {
    expect(svgProblem(svg(content))).toContain(rule);
  });

  test.each([
    [
      'nested entities',
      '<!DOCTYPE svg [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><svg><text>&b;</text></svg>',
      'document type',
    ],
    ['a linked style sheet', '<?xml-stylesheet href="a.css"?><svg/>', 'outside'],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><svg/>', 'UTF-8'],
    ['another root', '<html><svg/></html>', 'root'],
  ])('%s', (_, text, rule) => {
    expect(svgProblem(Buffer.from(text))).toContain(rule);
  });
});

const paths = '<path class="cls-1" d="M1 2c3-4 5.5.6 7 8z"/>'.repeat(100);

test.each([
  ['nothing but its size', ''],
  ['shapes', rect.repeat(500)],
  ['a few uses', nestedUse(2)],
  [
    'what drawing programs write',
    `<defs><style>.cls-1{fill:url(#g);}.cls-2{filter:url(#shadow)}</style>
     <linearGradient id="g" href="#base"><stop offset="0"/></linearGradient><linearGradient id="base"/>
     <filter id="shadow"><feGaussianBlur/><feOffset/><feMerge><feMergeNode/></feMerge></filter>
     <clipPath id="c"><circle r="9"/></clipPath></defs>
     <!-- <use href="#x"/> --><title>A &amp; B</title>
     <g clip-path="url(#c)" class="cls-2" style="isolation:isolate">${paths}</g>
     <a href="https://a.example/"><text x="1">Café</text></a>`,
  ],
])('an ordinary SVG may be drawn: %s', (_, content) => {
  const text = svg(content).toString();
  expect(svgProblem(Buffer.from(text))).toBeNull();
  expect(
    svgProblem(
      Buffer.from(
        `\ufeff<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/a.dtd">${text}`,
      ),
    ),
  ).toBeNull();
});
