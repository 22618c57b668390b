/**
 * The dashboard: the page, at `/` and at the paths of its views, and the files that the build made for it.
 *
 * Input: requests of browsers. Output: `index.html` for each path of a view, and files whose names contain a hash
 * of their content, which browsers may keep forever. A path of the API never answers the page. Any other path that does
 * not exist answers it to a browser, with status 404.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { acceptsCoding, entityTagOf, isKnown } from '../../http/answers/representations.js';
import { ApiError } from '../../schemas/errors.js';

interface DashboardOptions {
  /** The folder that the build wrote, with `index.html` and `assets/`. */
  readonly folder: string;
  /** Whether the page offers to create an account. */
  readonly signUp: 'off' | 'on';
  /** Where mails go, so that the page does not promise one that nobody gets. */
  readonly mail: 'sent' | 'outbox';
}

/** The dashboard's views by path, with the modules that show them. A view may have paths below it. */
const views: Readonly<Record<string, string>> = {
  account: 'account',
  start: 'start',
  map: 'map',
  geofences: 'geofences',
  beacons: 'beacons',
  imports: 'import',
  live: 'live',
  users: 'users',
  'what-if': 'what-if',
  analytics: 'analytics',
  webhooks: 'webhooks',
  'static-maps': 'static-map',
  settings: 'settings',
  sync: 'sync',
  keys: 'keys',
  members: 'members',
};

/** The page loads only from its own server. Its own styles are files; MapLibre decodes images from blobs. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const protect = (reply: FastifyReply): FastifyReply =>
  reply
    .header('Content-Security-Policy', policy)
    .header('X-Frame-Options', 'DENY')
    .header('Referrer-Policy', 'no-referrer')
    .header('Cross-Origin-Opener-Policy', 'same-origin');

const pageType = 'text/html; charset=utf-8';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** Returns the best encoding that the browser accepts and the build wrote. */
const encodingFor = (request: FastifyRequest, isWritten: (ending: string) => boolean) =>
  encodings.find(({ name, ending }) => acceptsCoding(request, name) && isWritten(ending));

/** What the build says of a module: its file, and the modules and styles that it needs. */
type Manifest = Readonly<
  Record<string, { readonly file: string; readonly imports?: readonly string[]; readonly css?: readonly string[] }>
>;

/**
 * Returns the page with links to the files of a module, which the browser then loads beside the page's script and not
 * after it.
 */
function withLinks(page: string, module: string, manifest: Manifest): string {
  const links = new Set<string>();
  function visit(name: string): void {
    const { file, imports = [], css = [] } = manifest[name] ?? {};
    const link = `<link rel="modulepreload" crossorigin href="/${file}">`;
    if (file === undefined || page.includes(`/${file}"`) || links.has(link)) return;
    links.add(link);
    for (const each of css) links.add(`<link rel="preload" as="style" crossorigin href="/${each}">`);
    for (const each of imports) visit(each);
  }
  visit(module);
  return page.replace('</head>', `${[...links].join('')}</head>`);
}

/** Serves nothing if the folder is missing: a server that runs from source has no built page. */
export const dashboardRoutes =
  ({ folder, signUp, mail }: DashboardOptions): FastifyPluginAsync =>
  async (app) => {
    if (!existsSync(join(folder, 'assets'))) return;
    app.defaultAuthority = 'none';
    const schema = { hide: true };
    const config = { isQueryForPage: true };
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    const document = readFileSync(join(folder, 'index.html'), 'utf8')
      .replace('<meta name="sign-up" content="off">', `<meta name="sign-up" content="${signUp}">`)
      .replace('<meta name="mail" content="sent">', `<meta name="mail" content="${mail}">`);
    const page = withLinks(document, 'application.tsx', manifest);
    // The names are known, so no path of a request reaches the file system.
    const assets = new Set(readdirSync(join(folder, 'assets')));

    function addPage(path: string, content: string): void {
      const entityTag = entityTagOf(content);
      app.get(path, { config, schema }, async (request, reply) => {
        protect(reply).header('Cache-Control', 'no-cache').header('ETag', entityTag);
        if (isKnown(request, entityTag)) return reply.code(304).send();
        return reply.type(pageType).send(content);
      });
    }
    app.missingPage.send = (reply) =>
      protect(reply).code(404).header('Cache-Control', 'no-store').type(pageType).send(page);
    addPage('/', page);
    for (const [path, module] of Object.entries(views)) {
      addPage(`/${path}`, withLinks(page, `pages/${module}.tsx`, manifest));
      addPage(`/${path}/*`, page);
    }

    app.get<{ Params: { name: string } }>('/assets/:name', { schema }, async (request, reply) => {
      const { name } = request.params;
      const type = types[extname(name)];
      if (type === undefined || !assets.has(name)) throw new ApiError('not_found', 'there is no such file');
      const encoding = encodingFor(request, (ending) => assets.has(name + ending));
      const content = await readFile(join(folder, 'assets', name + (encoding?.ending ?? '')));
      reply.header('Cache-Control', 'public, max-age=31536000, immutable').header('Vary', 'Accept-Encoding').type(type);
      if (encoding) reply.header('Content-Encoding', encoding.name);
      return reply.send(content);
    });
  };
