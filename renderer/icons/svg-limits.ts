/**
 * Decides whether an untrusted SVG may be drawn, by counting its drawing operations beforehand.
 *
 * A few bytes can cause any amount of work: nested references, patterns, masks, markers at each vertex, entities. The
 * count follows them like a renderer, and is never lower than what is drawn. Other costs, such as slow single shapes,
 * are limited by the deadline of the icon process. Pure.
 */

/** Maximum number and depth of elements. References count as nesting. */
const maxElements = 10_000;
const maxDepth = 64;
/**
 * Maximum drawn shapes after following all references. A shape of 50 vertices counts twice, one of 2,000 as 1,600. Each
 * takes about 20 µs.
 */
const maxDrawingSteps = 20_000;
const maxTextCharacters = 1_000;
const maxFilterSteps = 20;
const maxStyleSheetCharacters = 20_000;

/**
 * Returns the rule that an SVG breaks, as a phrase that continues after its name. Returns null when it may be drawn.
 */
export function svgProblem(file: Uint8Array): string | null {
  const text = decoded(file);
  if (text === undefined) return 'must be an SVG in UTF-8';
  const parsed = parse(text);
  return typeof parsed === 'string' ? parsed : limitsProblem(parsed);
}

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
  readonly parent: Element | null;
  text: string;
}

/** Decodes UTF-8. Returns undefined for other encodings, because the counted text must be the drawn text. */
function decoded(file: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file);
    const [, encoding] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']*)["']/i.exec(text) ?? [];
    return encoding === undefined || /^(utf-?8|us-ascii)$/i.test(encoding) ? text : undefined;
  } catch {
    return undefined;
  }
}

const malformed = 'must be well-formed XML';
const opening = /<([^\s<>/="'&!?]+)((?:\s+[^\s<>/="'&]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const attribute = /([^\s<>/="'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const predefined = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

/** Returns the name without its prefix: any prefix may stand for SVG's namespace. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Returns all elements, the root first, or the rule that is broken. */
function parse(text: string): readonly Element[] | string {
  const elements: Element[] = [];
  let open: Element | null = null;
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('<', at);
    const characters = text.slice(at, next < 0 ? undefined : next);
    if (characters.trim() !== '') {
      const plain = withoutReferences(characters);
      if (plain === undefined) return 'must not use entities';
      if (open) open.text += plain;
    }
    if (next < 0) break;
    const end = endOfMarkup(text, next);
    if (typeof end === 'string') return end;
    if (end !== null) {
      if (open && text.startsWith('<![CDATA[', next)) open.text += text.slice(next + 9, end - 3);
      at = end;
      continue;
    }
    if (text.startsWith('</', next)) {
      const close = text.indexOf('>', next);
      if (close < 0 || open === null) return malformed;
      open = open.parent;
      depth -= 1;
      at = close + 1;
      continue;
    }
    opening.lastIndex = next;
    const [whole, name, attributes, isEmpty] = opening.exec(text) ?? [];
    if (whole === undefined) return malformed;
    const read = readAttributes(attributes!);
    if (read === undefined) return 'must not use entities';
    const element: Element = { name: localName(name!), attributes: read, children: [], parent: open, text: '' };
    elements.push(element);
    open?.children.push(element);
    if (elements.length > maxElements) return `must have at most ${maxElements} elements`;
    at = next + whole.length;
    if (isEmpty) continue;
    open = element;
    depth += 1;
    if (depth > maxDepth) return depthRule;
  }
  return elements.length > 0 && open === null ? elements : malformed;
}

const depthRule = `must not nest deeper than ${maxDepth} levels, references included`;

/**
 * Returns the end of a comment, CDATA section, processing instruction or document type. Returns null for a tag, and a
 * rule where it is not allowed.
 */
function endOfMarkup(text: string, start: number): number | string | null {
  const after = (ending: string): number | string => {
    const end = text.indexOf(ending, start);
    return end < 0 ? malformed : end + ending.length;
  };
  if (text.startsWith('<!--', start)) return after('-->');
  if (text.startsWith('<![CDATA[', start)) return after(']]>');
  if (text.startsWith('<?', start))
    return /^<\?xml-stylesheet/i.test(text.slice(start, start + 16)) ? external : after('?>');
  if (!text.startsWith('<!', start)) return null;
  const end = text.indexOf('>', start);
  if (end < 0) return malformed;
  return text.slice(start, end).includes('[')
    ? 'must not declare entities or anything else in its document type'
    : end + 1;
}

const external = 'must not refer to anything outside itself';

/** Replaces character references. Returns undefined when there is any other entity. */
function withoutReferences(text: string): string | undefined {
  let isKnown = true;
  const plain = text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));|&/gi, (_, decimal, hexadecimal, name) => {
    const code = decimal ? Number(decimal) : hexadecimal ? Number.parseInt(hexadecimal, 16) : undefined;
    if (code !== undefined && code <= 0x10ffff) return String.fromCodePoint(code);
    const known = name === undefined ? undefined : predefined.get(name);
    isKnown &&= known !== undefined;
    return known ?? '';
  });
  return isKnown ? plain : undefined;
}

function readAttributes(text: string): Map<string, string> | undefined {
  const attributes = new Map<string, string>();
  for (const [, name, double, single] of text.matchAll(attribute)) {
    const value = withoutReferences(double ?? single ?? '');
    if (value === undefined) return undefined;
    attributes.set(localName(name!), value);
  }
  return attributes;
}

const filterSteps = /^fe[A-Z]/;
const links = new Set(['a', 'script']);

function limitsProblem(elements: readonly Element[]): string | null {
  const [root] = elements;
  if (root?.name !== 'svg') return 'must have svg as its root element';
  let [textCharacters, styleSheet] = [0, ''];
  for (const { name, attributes, text } of elements) {
    if (name === 'image' || name === 'feImage') return 'must not contain images';
    if (name === 'include' || (attributes.has('href') && !links.has(name) && !/^\s*#/.test(attributes.get('href')!)))
      return external;
    if (name === 'style') styleSheet += text;
    else if (!['title', 'desc', 'metadata'].includes(name)) textCharacters += text.trim().length;
    for (const value of attributes.values()) if (isOutside(value)) return external;
  }
  if (styleSheet.length > maxStyleSheetCharacters)
    return `must have at most ${maxStyleSheetCharacters} characters of style sheets`;
  if (styleSheet.includes('\\') || /@import/i.test(styleSheet) || isOutside(styleSheet)) return external;
  if (textCharacters > maxTextCharacters) return `must have at most ${maxTextCharacters} characters of text`;
  return countProblem(root, elements, styleSheet);
}

/** Returns whether a value has a `url()` to another document, or one that is obfuscated. */
const isOutside = (value: string): boolean =>
  /url\(\s*(?:["']\s*)?(?!#|\s|["'])/i.test(value) ||
  (value.includes('\\') && /u|\\0*75/i.test(value) && value.includes('('));

/** The cost of drawing, with all references followed. */
interface Count {
  readonly steps: number;
  readonly filters: number;
  readonly text: number;
  /** Shapes and vertices of elements that are drawn again for each of them. */
  readonly elements: number;
  readonly vertices: number;
  readonly depth: number;
}

const none: Count = { steps: 0, filters: 0, text: 0, elements: 0, vertices: 0, depth: 0 };

function countProblem(root: Element, elements: readonly Element[], styleSheet: string): string | null {
  const byId = new Map<string, Element[]>();
  for (const element of elements) {
    const id = element.attributes.get('id');
    if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), element]);
  }
  const counter = new Counter(byId, readStyleSheet(styleSheet));
  const { steps, filters, text, depth } = counter.total(root);
  if (counter.hasCycle) return 'must not refer to itself';
  if (depth > maxDepth) return depthRule;
  if (filters > maxFilterSteps) return `must apply at most ${maxFilterSteps} filter effects, all references followed`;
  if (text > maxTextCharacters)
    return `must draw at most ${maxTextCharacters} characters of text, all references followed`;
  return steps > maxDrawingSteps ? `must take at most ${maxDrawingSteps} drawing steps, all references followed` : null;
}

class Counter {
  hasCycle = false;
  private readonly counts = new Map<Element, Count>();
  private readonly open = new Set<Element>();

  constructor(
    private readonly byId: ReadonlyMap<string, readonly Element[]>,
    private readonly styles: StyleSheet,
  ) {}

  /**
   * An element that a complex selector refers to may be drawn with each shape, and recursively with each of its shapes.
   */
  total(root: Element): Count {
    const everywhere = this.styles.get(anyElement) ?? [];
    const references = everywhere.flatMap(([name, value]) =>
      idsIn(value).map((id) => ({ name, count: this.ofId(id) })),
    );
    return references.reduce((sum, { name, count }) => {
      return plus(sum, scaled(count, name.startsWith('marker') ? sum.elements + sum.vertices : sum.elements));
    }, this.of(root));
  }

  private of(element: Element): Count {
    const known = this.counts.get(element);
    if (known) return known;
    if (this.open.has(element)) {
      this.hasCycle = true;
      return none;
    }
    // Deeper than may be, or around in a circle: what is below doesn't matter any more.
    if (this.open.size > 2 * maxDepth) return { ...none, depth: Infinity };
    this.open.add(element);
    const count = this.fresh(element);
    this.open.delete(element);
    this.counts.set(element, count);
    return count;
  }

  private fresh(element: Element): Count {
    const { once, eachShape, eachVertex } = referencesOf(element, this.styles);
    const below = [...element.children.map((child) => this.of(child)), ...once.map((id) => this.ofId(id))];
    const inner = below.reduce(plus, ownCount(element));
    const nested = { ...inner, depth: inner.depth + 1 };
    const shapes = eachShape.map((id) => scaled(this.ofId(id), nested.elements));
    const markers = eachVertex.map((id) => scaled(this.ofId(id), nested.vertices));
    return [...shapes, ...markers].reduce(plus, nested);
  }

  /** The most that any element of this id takes: which of several counts is the renderer's choice. */
  private ofId(id: string): Count {
    const counts = (this.byId.get(id) ?? []).map((element) => this.of(element));
    return counts.reduce((most, each) => (each.steps > most.steps ? each : most), none);
  }
}

const plus = (a: Count, b: Count): Count => ({
  steps: a.steps + b.steps,
  filters: a.filters + b.filters,
  text: a.text + b.text,
  elements: a.elements + b.elements,
  vertices: a.vertices + b.vertices,
  depth: Math.max(a.depth, b.depth),
});

/** `depth` stays, and so do the shapes below, which others may be drawn with again. */
const scaled = (count: Count, times: number): Count => ({
  steps: count.steps * times,
  filters: count.filters * times,
  text: count.text * times,
  elements: count.elements * times,
  vertices: count.vertices * times,
  depth: count.depth,
});

/** Outlines that cross themselves take the square of their vertices. */
const verticesOfOneStep = 50;

function ownCount({ name, attributes, text }: Element): Count {
  const outline = attributes.get('d') ?? attributes.get('points');
  const vertices = outline === undefined ? 4 : (outline.match(/[-+]?(?:\d+\.?\d*|\.\d+)/g)?.length ?? 0) / 2;
  const octaves = name === 'feTurbulence' ? Number(attributes.get('numOctaves') ?? 1) || 1 : 1;
  const isDrawn = !['title', 'desc', 'metadata', 'style', 'script'].includes(name);
  return {
    steps: isDrawn ? 1 + (vertices / verticesOfOneStep) ** 2 + text.trim().length : 0,
    filters: filterSteps.test(name) ? Math.max(1, octaves / 4) : 0,
    text: isDrawn ? text.trim().length : 0,
    elements: 1,
    vertices,
    depth: 0,
  };
}

const idsIn = (value: string): string[] =>
  [...value.matchAll(/url\(\s*(?:["']\s*)?#([^"')]*)/gi)].map(([, id]) => id!.trim());

/**
 * Declarations that refer to something, by the simple selector that they are for; any other selector may match every
 * element.
 */
type StyleSheet = ReadonlyMap<string, readonly Declaration[]>;
type Declaration = readonly [property: string, value: string];
const anyElement = '*';

function readStyleSheet(text: string): StyleSheet {
  const styles = new Map<string, Declaration[]>();
  for (const [, selectors, body] of text.replace(/\/\*[\s\S]*?(\*\/|$)/g, '').matchAll(/([^{}]*)\{([^{}]*)/g)) {
    const declarations = declarationsOf(body!).filter(([, value]) => idsIn(value).length > 0);
    if (declarations.length === 0) continue;
    for (const selector of selectors!.split(',').map((each) => each.trim())) {
      const key = /^[.#]?[\w-]+$/.test(selector) ? selector : anyElement;
      styles.set(key, [...(styles.get(key) ?? []), ...declarations]);
    }
  }
  return styles;
}

const declarationsOf = (text: string): Declaration[] =>
  text
    .split(';')
    .map((each) => [each.slice(0, each.indexOf(':')).trim().toLowerCase(), each.slice(each.indexOf(':') + 1)]);

function declared({ name, attributes }: Element, styles: StyleSheet): readonly Declaration[] {
  if (styles.size === 0) return [];
  const classes = (attributes.get('class') ?? '').split(/\s+/).map((each) => `.${each}`);
  return [name, `#${attributes.get('id') ?? ''}`, ...new Set(classes)].flatMap((key) => styles.get(key) ?? []);
}

/**
 * What an element refers to: drawn with it once, or, since the property is inherited, with each shape or each vertex in
 * it.
 */
function referencesOf(element: Element, styles: StyleSheet) {
  const once: string[] = [];
  const eachShape: string[] = [];
  const eachVertex: string[] = [];
  const { attributes } = element;
  const given = [...attributes, ...declarationsOf(attributes.get('style') ?? ''), ...declared(element, styles)];
  for (const [name, value] of given) {
    if (name === 'href') once.push(value.trim().slice(1));
    else if (name.startsWith('marker')) eachVertex.push(...idsIn(value));
    else if (name === 'fill' || name === 'stroke') eachShape.push(...idsIn(value));
    else if (name !== 'style') once.push(...idsIn(value));
  }
  return { once, eachShape, eachVertex };
}
